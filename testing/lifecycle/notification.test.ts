import { beforeEach, expect, test } from "@jest/globals";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { throughBothDoors, unknown } from "../harness/bothDoors.ts";

const email = "ada@example.com";

throughBothDoors({ settings: { generationSeconds: 0 } }, (scene) => {
  let appID = "";
  beforeEach(async () => {
    const request = { userEmail: "admin@example.com", appPrompt: "An atlas." };
    const { link } = await scene.client.createappwithprompt(request);
    appID = link.split("/").at(-1) ?? "";
  });

  const intents = (): Promise<string[]> => readdir(join(scene.host.folder, ".microapps", "intents"));
  const sent = () => scene.emulator.calls({ mutating: true }).filter(({ endpoint }) => endpoint === "sendnotification");

  test("is sent when it is created and whenever triggers change, never by a refresh, and forgotten", async () => {
    const { host, emulator } = scene;
    const news = { appID, email, message: "Welcome", badgeCount: 3, channel: "default", triggers: { version: 1 } };
    const made = await scene.create("Notification", news);
    expect(made).toMatchObject({
      id: `${appID}/${email}`,
      outputs: { ...news, sentAt: expect.stringMatching(/^\d{4}-.*Z$/) as unknown, notificationCount: 1, pushCount: 1 },
    });
    const delivered = { appID, email, message: "Welcome", badgeCount: 3 };
    expect(emulator.notifications(email)).toMatchObject({ inbox: [delivered], pushes: [delivered] });
    expect(await host.diff("Notification", made.id, made.outputs, made.inputs)).toMatchObject({ changes: false });
    expect(await host.read("Notification", made.id, made.outputs)).toMatchObject({ outputs: made.outputs });
    expect(await intents()).toEqual([]);

    host.told.length = 0;
    const said = await host.check("Notification", { ...news, message: "Hello", badgeCount: 4 }, made.inputs);
    expect(host.told).toEqual(["info: message, badgeCount changed and triggers did not: nothing is sent"]);
    expect(await host.diff("Notification", made.id, made.outputs, said.inputs)).toMatchObject({ changes: false });

    const again = { appID, email, badgeCount: 0, channel: "push", triggers: { version: 2 } };
    const { inputs } = await host.check("Notification", again, made.inputs);
    expect(await host.diff("Notification", made.id, made.outputs, inputs)).toMatchObject({
      changes: true,
      replaces: [],
    });
    const outputs = await host.update("Notification", made.id, made.outputs, inputs);
    expect(outputs).toMatchObject({ ...again, notificationCount: 0, pushCount: 1 });
    expect(outputs).not.toHaveProperty("message");
    expect(sent()).toHaveLength(2);
    expect(emulator.notifications(email).pushes.at(-1)).toMatchObject({ message: null, badgeCount: 0 });

    expect(await scene.calls(() => host.destroy("Notification", made.id, outputs))).toEqual([]);
    expect(await intents()).toEqual([]);
    // What was forgotten is sent anew when it is declared anew.
    await scene.create("Notification", again);
    expect(sent()).toHaveLength(3);
  });

  test("another recipient or app is another notification; what is not known yet is unknown", async () => {
    const { host } = scene;
    const made = await scene.create("Notification", { appID, email, message: "Welcome" });
    const other = { ...made.inputs, email: "grace@example.com" };
    expect(await host.diff("Notification", made.id, made.outputs, other)).toMatchObject({ replaces: ["email"] });
    const spelt = { ...made.inputs, email: "Ada@example.com" };
    expect(await host.diff("Notification", made.id, made.outputs, spelt)).toMatchObject({ changes: false });
    const later = await host.check("Notification", { appID: unknown, email, message: unknown });
    expect(later).toMatchObject({ problems: [], inputs: { appID: unknown, message: unknown } });
    expect(await host.diff("Notification", made.id, made.outputs, later.inputs)).toMatchObject({ replaces: ["appID"] });
    const nothing = await host.check("Notification", { appID, email, channel: "push" });
    expect(nothing.problems).toEqual(["message: set message, badgeCount or both"]);
  });

  test("an import sends nothing, and takes the first triggers over", async () => {
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
    await expect(host.import("Notification", appID)).rejects.toThrow("it has the form <appID>/<e-mail address>");
  });

  test("a lost answer is told, saved and not sent again", async () => {
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
    expect(await intents()).toEqual([]);

    emulator.setFaults({ faults: [{ endpoint: "sendnotification", kind: "reset", commit: true, count: 1 }] });
    const again = { ...inputs, triggers: { version: 2 } };
    const second = await scene.failure(host.update("Notification", failed.id, outputs, again));
    await host.update("Notification", failed.id, second.state, again);
    expect(sent()).toHaveLength(2);
  });

  test("a run that remembers nothing sends nothing twice", async () => {
    const { emulator } = scene;
    const news = { appID, email, message: "Welcome", triggers: { version: 1 } };
    const first = await scene.create("Notification", news);
    const second = await scene.create("Notification", news);
    expect(second.outputs).toEqual(first.outputs);
    expect(scene.host.told.join()).toContain("by a run that was interrupted then: not sent again");
    expect(sent()).toHaveLength(1);
    emulator.setFaults({ faults: [{ endpoint: "sendnotification", kind: "reset", commit: true, count: 1 }] });
    const other = { ...news, triggers: { version: 2 } };
    await scene.failure(scene.create("Notification", other));
    await scene.failure(scene.create("Notification", other));
    expect(sent()).toHaveLength(2);
  });

  test("a refusal leaves nothing behind", async () => {
    const news = { appID, email: "nobody@example.com", message: "Welcome" };
    await expect(scene.create("Notification", news)).rejects.toThrow("User not found for nobody@example.com");
    expect(await intents()).toEqual([]);
    await expect(scene.create("Notification", { ...news, appID: "nowhere" })).rejects.toThrow(
      "Only app admins or authors",
    );
  });
});
