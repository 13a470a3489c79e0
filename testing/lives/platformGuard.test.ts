import { expect, test } from "@jest/globals";
import { throughBothKinds } from "../harness/bothKinds.ts";
import { Stage } from "../harness/stage.ts";

throughBothKinds({}, (scene) => {
  const elsewhere = async (
    config: Readonly<Record<string, string>>,
    work: (other: Stage) => Promise<void>,
  ): Promise<void> => {
    const other = await Stage.set({}, config, scene.providerKind);
    try {
      await work(other);
    } finally {
      await other.clear();
    }
  };
  const made = async () => scene.create("Organization", { name: "Acme" });

  test("a state of another platform is refused by every operation, before anything is sent", async () => {
    const { id, inputs, outputs } = await made();
    expect(outputs).toMatchObject({ platform: scene.emulator.url });
    await elsewhere({}, async ({ host, emulator }) => {
      const refused = `it belongs to the platform ${scene.emulator.url}, and the configuration says ${emulator.url}`;
      const renamed = { ...inputs, name: "Acme & Co" };
      await expect(host.diff("Organization", id, outputs, inputs)).rejects.toThrow(refused);
      await expect(host.read("Organization", id, outputs)).rejects.toThrow(refused);
      await expect(host.update("Organization", id, outputs, renamed)).rejects.toThrow(refused);
      await expect(host.destroy("Organization", id, outputs)).rejects.toThrow(refused);
      expect(emulator.calls()).toEqual([]);
    });
  });

  test("unless the former address is named: then the state is told of the new one", async () => {
    const { id, inputs, outputs } = await made();
    await elsewhere({ "microapps:movedFrom": scene.emulator.url }, async ({ host, client, emulator }) => {
      await client.insertorganization({ organizationInfo: { _id: id, name: "Acme" } });
      expect(await host.diff("Organization", id, outputs, inputs)).toMatchObject({ changes: true, replaces: [] });
      const now = await host.update("Organization", id, outputs, inputs);
      expect(now).toMatchObject({ platform: emulator.url });
      expect(await host.diff("Organization", id, now, inputs)).toMatchObject({ changes: false });
    });
  });
});
