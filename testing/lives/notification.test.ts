import { beforeEach, expect, test } from "@jest/globals";
import { throughBothKinds } from "../harness/bothKinds.ts";

const email = "ada@example.com";

throughBothKinds({ settings: { generationSeconds: 0 } }, (scene) => {
  let appID = "";
  beforeEach(async () => {
    const request = { userEmail: "admin@example.com", appPrompt: "An atlas." };
    const { link } = await scene.client.createappwithprompt(request);
    appID = link.split("/").at(-1) ?? "";
  });

  const journal = async (): Promise<string[]> => (await scene.journal()).files;
  const sent = () => scene.emulator.calls({ mutating: true }).filter(({ endpoint }) => endpoint === "sendnotification");

  test("Notification: what changes without triggers is reported and not sent; what was forgotten is sent again", async () => {
    const { host } = scene;
    const news = { appID, email, message: "Welcome", badgeCount: 3, triggers: { version: 1 } };
    const made = await scene.create("Notification", news);
    await host.read("Notification", made.id, made.outputs); // it is in the state, so its line has served
    expect(await journal()).toEqual([]);
    host.told.length = 0;
    await host.check("Notification", { ...news, message: "Hello", badgeCount: 4 }, made.inputs);
    expect(host.told).toEqual(["info: message, badgeCount changed and triggers did not: nothing is sent"]);
    const silent = await host.check("Notification", { appID, email, channel: "push" });
    expect(silent.problems).toEqual(["message: set message, badgeCount or both"]);
    expect(await scene.calls(() => host.destroy("Notification", made.id, made.outputs))).toEqual([]);
    await scene.create("Notification", news);
    expect(sent()).toHaveLength(2);
  });

  test("Notification: an import sends nothing, and takes the first triggers over", async () => {
    const { host } = scene;
    const seen = await host.import("Notification", `${appID}/${email}`);
    expect(seen).toMatchObject({ outputs: { appID, email, sentAt: "imported" }, inputs: { appID, email } });
    const news = { appID, email, message: "Welcome", triggers: { version: 1 } };
    const { inputs } = await host.check("Notification", news, seen.inputs);
    const taken = await host.update("Notification", seen.id, seen.outputs, inputs);
    expect(taken).toMatchObject({ triggers: { version: 1 }, sentAt: "imported" });
    expect(sent()).toEqual([]);
    await host.update("Notification", seen.id, taken, { ...inputs, triggers: { version: 2 } });
    expect(sent()).toHaveLength(1);
    await expect(host.import("Notification", appID)).rejects.toThrow("which has the form <appID>/<e-mail address>");
  });

  test("Notification: a lost answer is told, saved and not sent again", async () => {
    const { host, emulator } = scene;
    emulator.setFaults({ faults: [{ endpoint: "sendnotification", kind: "reset", commit: true, count: 1 }] });
    const news = { appID, email, message: "Welcome", triggers: { version: 1 } };
    const failed = await scene.failure(scene.create("Notification", news));
    expect(failed.message).toMatch(
      /whether the notification to ada@example\.com was sent at .* is not known.*change triggers/,
    );
    expect(failed.state).toMatchObject({ ...news, sentAt: expect.any(String) as unknown });
    // The engine asks for an update of what failed in part.
    const { inputs } = await host.check("Notification", news);
    const outputs = await host.update("Notification", failed.id, failed.state, inputs);
    expect(sent()).toHaveLength(1);
    expect(await journal()).toEqual([]);

    emulator.setFaults({ faults: [{ endpoint: "sendnotification", kind: "reset", commit: true, count: 1 }] });
    const again = { ...inputs, triggers: { version: 2 } };
    const second = await scene.failure(host.update("Notification", failed.id, outputs, again));
    await host.update("Notification", failed.id, second.state, again);
    expect(sent()).toHaveLength(2);
  });

  test("Notification: one that is sent otherwise than declared is a failure, saved and not sent again", async () => {
    const { host, emulator } = scene;
    emulator.behave({ notificationValues: "dropped" });
    const news = { appID, email, message: "Welcome", badgeCount: 2, channel: "push" };
    const failed = await scene.failure(scene.create("Notification", news));
    expect(failed.message).toContain(
      `otherwise than it is declared: without its message, badgeCount is null, not 2, channel is "default", not push`,
    );
    const { inputs } = await host.check("Notification", news);
    await host.update("Notification", failed.id, failed.state, inputs);
    expect(sent()).toHaveLength(1);
    expect(await journal()).toEqual([]);
    emulator.behave();
  });

  test("Notification: a run that remembers nothing sends nothing twice", async () => {
    const { emulator } = scene;
    const news = { appID, email, message: "Welcome", triggers: { version: 1 } };
    const first = await scene.create("Notification", news);
    const second = await scene.create("Notification", news);
    expect(second.outputs).toEqual(first.outputs);
    expect(scene.host.told.join()).toContain("by an earlier run: not sent again");
    expect(sent()).toHaveLength(1);
    emulator.setFaults({ faults: [{ endpoint: "sendnotification", kind: "reset", commit: true, count: 1 }] });
    const other = { ...news, triggers: { version: 2 } };
    await scene.failure(scene.create("Notification", other));
    await scene.failure(scene.create("Notification", other));
    expect(sent()).toHaveLength(2);
  });
});
