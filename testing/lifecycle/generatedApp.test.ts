import { expect, test } from "@jest/globals";
import { throughBothDoors, unknown } from "./bothDoors.ts";

throughBothDoors({ settings: { generationSeconds: 0 } }, (scene) => {
  const news = { userEmail: "admin@example.com", appPrompt: "An atlas." };

  test("is generated once, waited for as a step of its own, and forgotten with its link", async () => {
    const { host } = scene;
    const made = await scene.create("GeneratedApp", news);
    expect(made.outputs).toMatchObject({
      appID: made.id,
      appLink: expect.stringContaining(`/app/${made.id}`) as unknown,
    });
    const ready = await scene.create("AppReadiness", { appID: made.id });
    expect(ready.outputs).toMatchObject({ status: "completed" });

    // White space does not count; another prompt is an error unless it is meant.
    const spaced = await host.check("GeneratedApp", { ...news, appPrompt: " An\n atlas. " }, made.inputs);
    expect(spaced.problems).toEqual([]);
    expect(await host.diff("GeneratedApp", made.id, made.outputs, spaced.inputs)).toMatchObject({ changes: false });
    const other = { ...news, appPrompt: "Another." };
    expect((await host.check("GeneratedApp", other, made.inputs)).problems).toEqual([
      expect.stringContaining("appPrompt: has changed, and a new generation costs money"),
    ]);
    const meant = await host.check("GeneratedApp", { ...other, onPromptChange: "replace" }, made.inputs);
    expect(await host.diff("GeneratedApp", made.id, made.outputs, meant.inputs)).toMatchObject({
      replaces: ["appPrompt"],
    });
    const ignored = await host.check("GeneratedApp", { ...other, onPromptChange: "ignore" }, made.inputs);
    expect(await host.diff("GeneratedApp", made.id, made.outputs, ignored.inputs)).toMatchObject({ changes: false });

    expect(await scene.calls(() => host.delete("GeneratedApp", made.id, made.outputs))).toEqual([]);
    expect(host.told.at(-1)).toContain(made.outputs["editLink"]);
  });

  test("an answer that arrived and was not saved is gone on with", async () => {
    const first = await scene.create("GeneratedApp", news);
    let second: { id: string } | undefined;
    expect(await scene.calls(async () => (second = await scene.create("GeneratedApp", news)))).toEqual([]);
    expect(second?.id).toBe(first.id);
  });

  test("an answer that never arrived is not paid for twice", async () => {
    scene.emulator.setFaults({
      faults: [{ endpoint: "createappwithprompt", kind: "reset", commit: true, count: 1 }],
    });
    await expect(scene.create("GeneratedApp", news)).rejects.toThrow(/Nothing is repeated.*\.microapps\/intents\//s);
    const again = await scene.calls(() => expect(scene.create("GeneratedApp", news)).rejects.toThrow(/may exist/));
    expect(again).toEqual([]);
  });

  test("a refusal leaves nothing behind", async () => {
    scene.emulator.setFaults({
      faults: [{ endpoint: "createappwithprompt", kind: "status", status: 403, count: 1 }],
    });
    await expect(scene.create("GeneratedApp", news)).rejects.toThrow("createappwithprompt");
    await scene.create("GeneratedApp", news);
  });

  test("is read as it is, gone where the platform has it no more, and not imported by its ID alone", async () => {
    const { host } = scene;
    const made = await scene.create("GeneratedApp", news);
    expect(await host.read("GeneratedApp", made.id, made.outputs)).toMatchObject({ outputs: made.outputs });
    expect((await host.read("GeneratedApp", "app0", made.outputs)).id).toBe("");
    expect((await host.read("AppReadiness", "app0", { appID: "app0", timeout: 1, status: "ready" })).id).toBe("");
    await expect(host.import("GeneratedApp", made.id)).rejects.toThrow("can't be imported by its ID alone");
    expect(await host.import("AppReadiness", made.id)).toMatchObject({ inputs: { appID: made.id } });
  });

  test("what is not known yet makes no new app by itself; another app is waited for anew", async () => {
    const { host } = scene;
    const made = await scene.create("GeneratedApp", news);
    const { inputs, problems } = await host.check("GeneratedApp", { ...news, appPrompt: unknown }, made.inputs);
    expect(problems).toEqual([]);
    expect(await host.diff("GeneratedApp", made.id, made.outputs, inputs)).toMatchObject({ changes: false });
    const ready = await scene.create("AppReadiness", { appID: made.id });
    const other = await host.check("AppReadiness", { appID: unknown });
    expect(await host.diff("AppReadiness", made.id, ready.outputs, other.inputs)).toMatchObject({
      replaces: ["appID"],
    });
  });
});
