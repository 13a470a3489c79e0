import { expect, test } from "@jest/globals";
import { createHash } from "node:crypto";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { testInOwnProcess, throughBothKinds, unknown } from "../harness/bothKinds.ts";
import { here } from "../harness/inProcessPlugin.ts";
import { eventually } from "../harness/processes.ts";
import { Stage } from "../harness/stage.ts";

const news = { userEmail: "admin@example.com", appPrompt: "An atlas." };

throughBothKinds({ settings: { generationSeconds: 0, failingPrompts: "FAIL" } }, (scene) => {
  test("GeneratedApp: another prompt is an error unless it is meant; an app is waited for as a step of its own", async () => {
    const { host } = scene;
    const made = await scene.create("GeneratedApp", news);
    expect(made.outputs["appLink"]).toContain(`/app/${made.id}`);
    const other = await host.check("GeneratedApp", { ...news, appPrompt: "Another." }, made.inputs);
    expect(other.problems).toEqual([
      expect.stringContaining("appPrompt: has changed, and a new generation costs money"),
    ]);
    const ready = await scene.create("AppReadiness", { appID: made.id });
    expect(ready.outputs).toMatchObject({ status: "completed" });
    const { inputs } = await host.check("AppReadiness", { appID: unknown });
    expect(await host.diff("AppReadiness", made.id, ready.outputs, inputs)).toMatchObject({ replaces: ["appID"] });
    await host.destroy("GeneratedApp", made.id, made.outputs);
    expect(host.told.at(-1)).toContain(made.outputs["editLink"]);
  });

  test("GeneratedApp: an answer that arrived and was not saved is gone on with", async () => {
    const first = await scene.create("GeneratedApp", news);
    let second: { id: string } | undefined;
    expect(await scene.calls(async () => (second = await scene.create("GeneratedApp", news)))).toEqual([]);
    expect(second?.id).toBe(first.id);
  });

  test("GeneratedApp: a generation that version 0.1.0 began without an answer is not paid for twice", async () => {
    const { host } = scene;
    const digest = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 32);
    const urn = host.urn("GeneratedApp");
    const folder = join(host.folder, ".microapps/intents");
    await mkdir(folder, { recursive: true });
    const file = join(folder, `${digest(urn)}.json`);
    const intent = {
      urn,
      startedAt: "2026-01-01T00:00:00.000Z",
      userEmail: news.userEmail,
      promptDigest: digest("An atlas."),
    };
    await writeFile(file, JSON.stringify(intent));
    const { message } = await stopped((await host.check("GeneratedApp", news)).inputs);
    expect(message).toContain("was started at 2026-01-01T00:00:00.000Z and its answer never arrived");
    // A link that a branch may have brought along is followed by nothing.
    await writeFile(file, JSON.stringify({ ...intent, link: "https://evil.example/workspace/apps/1" }));
    const made = await scene.create("GeneratedApp", news);
    expect(JSON.stringify([made.outputs, host.told])).not.toContain("evil.example");
  });

  test("GeneratedApp: a link elsewhere than at the app server is not kept, and neither is the app paid for twice", async () => {
    const { host, emulator } = scene;
    const at = async (server: string | undefined): Promise<void> => {
      if (server === undefined) delete process.env["MICROAPPS_APP_SERVER"];
      else process.env["MICROAPPS_APP_SERVER"] = server;
      await host.restart();
    };
    try {
      await at("https://elsewhere.example.com");
      const said = await scene.create("GeneratedApp", news).then(
        () => "",
        (error: unknown) => String(error),
      );
      expect(said).toMatch(
        /the link that the platform answered does not lead to https:\/\/elsewhere\.example\.com, which microapps:appServer names: https:\/\/apps\.example\.com\/workspace\/apps\//,
      );
      const [, link = ""] = /names: (\S+)\. Nothing/.exec(said) ?? [];
      const file = await writeLink(link);
      await host.restart();
      expect(said).toContain(`"link" into its line of ${file}`);
      await expect(scene.create("GeneratedApp", news)).rejects.toThrow(`the link in ${file} does not lead to`);
      await at("https://apps.example.com/");
      expect((await scene.create("GeneratedApp", news)).outputs["editLink"]).toBe(link);
      expect(emulator.calls({ endpoint: "createappwithprompt" })).toHaveLength(1);
    } finally {
      await at(undefined);
    }
  });

  test("GeneratedApp: an answer that never arrived is not paid for twice", async () => {
    scene.emulator.setFaults({
      faults: [{ endpoint: "createappwithprompt", kind: "reset", commit: true, count: 1 }],
    });
    await expect(scene.create("GeneratedApp", news)).rejects.toThrow(
      /Nothing is repeated.*pulumi-microapps\/journal\//s,
    );
    const again = await scene.calls(() => expect(scene.create("GeneratedApp", news)).rejects.toThrow(/may exist/));
    expect(again).toEqual([]);
  });

  test("GeneratedApp: is read as it is, gone where the platform has it no more, and not imported by its ID alone", async () => {
    const { host } = scene;
    const made = await scene.create("GeneratedApp", news);
    expect(await host.read("GeneratedApp", made.id, made.outputs)).toMatchObject({ outputs: made.outputs });
    expect((await host.read("GeneratedApp", "app0", made.outputs)).id).toBe("");
    const ready = { appID: "app0", timeout: 1, status: "ready" };
    const waited = scene.providerKind.given("AppReadiness", host.urn("AppReadiness"), ready);
    expect((await host.read("AppReadiness", "app0", waited)).id).toBe("");
    await expect(host.import("GeneratedApp", made.id)).rejects.toThrow("can't be imported by its ID alone");
    expect(await host.import("AppReadiness", made.id)).toMatchObject({ inputs: { appID: made.id } });
  });

  testInOwnProcess("GeneratedApp: a wait that times out or is killed goes on with the same app", async () => {
    const { host, emulator } = scene;
    const made = await scene.create("GeneratedApp", news);
    // An unknown status word means that the generation goes on, and is reported.
    const statusWords = { completed: "pending" } as const;
    const { inputs } = await host.check("AppReadiness", { appID: made.id, timeout: 0.5, statusWords });
    const late = await scene.failure(host.create("AppReadiness", inputs));
    expect(late.message).toMatch(
      /^app \w+ was not ready after \d s: the platform's status is "completed"\. Run up again to go on waiting/,
    );
    expect(late).toMatchObject({ id: made.id, state: { appID: made.id, status: "completed" } });
    expect(host.statuses.join("\n")).toContain(`waiting for app ${made.id}: completed (0 s)`);
    // The engine asks for an update of what failed in part, unless a refresh came in between.
    const seen = await host.read("AppReadiness", made.id, late.state);
    expect(await host.diff("AppReadiness", made.id, seen.outputs, inputs)).toMatchObject({
      changes: true,
      replaces: [],
    });
    const again = await scene.failure(host.update("AppReadiness", made.id, late.state, inputs));
    expect(again.id).toBe(made.id);

    emulator.setFaults({ faults: [{ endpoint: "createappwithpromptStatus", kind: "timeout" }] });
    const killed = host.update("AppReadiness", made.id, late.state, inputs).catch(() => "killed");
    await eventually("the wait", () => emulator.faults().find(({ hit }) => hit > 0));
    await host.restart();
    expect(await killed).toBe("killed");
    emulator.setFaults();
    const known = await host.check("AppReadiness", { appID: made.id });
    const ready = await host.update("AppReadiness", made.id, late.state, known.inputs);
    expect(ready).toMatchObject({ appID: made.id, status: "completed" });
    expect(await host.diff("AppReadiness", made.id, ready, known.inputs)).toMatchObject({ changes: false });
    expect(emulator.calls({ endpoint: "createappwithprompt" })).toHaveLength(1);
  });

  test("GeneratedApp: a generation that failed says so with the platform's word, and is not begun again", async () => {
    const { host, emulator } = scene;
    const made = await scene.create("GeneratedApp", { ...news, appPrompt: "FAIL" });
    for (const statusWords of [undefined, { Failed: "failed" }]) {
      const { inputs } = await host.check("AppReadiness", { appID: made.id, ...(statusWords ? { statusWords } : {}) });
      const failed = await scene.failure(host.create("AppReadiness", inputs));
      expect(failed.message).toMatch(/^the generation of app \w+ failed: the platform's status is "failed"\./);
      expect(failed.state).toMatchObject({ appID: made.id, status: "failed" });
    }
    const meant = await host.check("AppReadiness", { appID: made.id, statusWords: { failed: "ready" } });
    expect((await host.create("AppReadiness", meant.inputs)).outputs).toMatchObject({ status: "failed" });
    expect(emulator.calls({ endpoint: "createappwithprompt" })).toHaveLength(1);
  });

  testInOwnProcess(
    "GeneratedApp: a provider killed while it generates pays once, whether the app was begun or not",
    async () => {
      const { host, emulator } = scene;
      for (const commit of [false, true]) {
        emulator.setFaults({ faults: [{ endpoint: "createappwithprompt", kind: "timeout", commit, count: 1 }] });
        const { inputs } = await host.check("GeneratedApp", news);
        const killed = host.create("GeneratedApp", inputs).catch(() => "killed");
        await eventually("the generation", () => emulator.faults().find(({ hit }) => hit > 0));
        await host.restart();
        expect(await killed).toBe("killed");
        const [file = ""] = (await scene.journal()).files;
        expect((await stopped(inputs)).message).toContain(
          `write its link as "link" into its line of ${file}; if not, delete`,
        );
        if (commit) {
          const [app = ""] = emulator.differences("none").find(({ table }) => table === "apps")?.added ?? [];
          await writeLink(`https://apps.example.com/workspace/apps/${app}`);
          await host.restart();
          const made = await scene.create("GeneratedApp", news);
          expect(made.id).toBe(app);
        } else {
          await rm(file);
          await host.restart();
          emulator.saveSnapshot("none");
        }
      }
      expect(emulator.differences("none").find(({ table }) => table === "apps")?.added).toHaveLength(1);
    },
  );

  /** Writes an app's link into its line, as a person does who has found it; answers the file. */
  async function writeLink(link: string): Promise<string> {
    const { files, lines } = await scene.journal();
    const [file = ""] = files;
    expect(lines.at(-1)).not.toHaveProperty("link");
    await writeFile(file, `${JSON.stringify({ ...lines.at(-1), link })}\n`);
    return file;
  }

  /** How a create that must not call anything ends. */
  async function stopped(inputs: Record<string, unknown>): Promise<Error> {
    const since = scene.emulator.lastCall();
    const error: unknown = await scene.host.create("GeneratedApp", inputs).catch((reason: unknown) => reason);
    expect(scene.emulator.calls({ since, endpoint: "createappwithprompt" })).toEqual([]);
    if (!(error instanceof Error)) throw new Error("it did not stop");
    return error;
  }
});

test("an app is waited for by the words that the profile has for its status", async () => {
  const profile = { version: 1, statusWords: { baked: "ready" } } as const;
  const stage = await Stage.set({ settings: { generationSeconds: 0 } }, { "microapps:profile": "profile.json" }, here);
  await writeFile(join(stage.host.folder, "profile.json"), JSON.stringify(profile));
  stage.emulator.setProfile(profile);
  const app = await stage.create("GeneratedApp", news);
  const { inputs, outputs } = await stage.create("AppReadiness", { appID: app.id });
  expect(outputs).toMatchObject({ status: "baked" });
  expect(await stage.host.update("AppReadiness", app.id, outputs, inputs)).toMatchObject({ status: "baked" });
  await stage.clear();
});
