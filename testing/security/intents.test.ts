import { beforeEach, expect, test } from "@jest/globals";
import { execFileSync } from "node:child_process";
import { readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { throughBothKinds } from "../harness/bothKinds.ts";

// Forged files in .microapps from the author of a pull request: their claims about finished work or ownership are not
// believed.

const email = "ada@example.com";
const tables = { countries: { fields: { Code: "text", Flag: { type: "file", id: "flag" } } } };

throughBothKinds({ tables, settings: { generationSeconds: 0 } }, (scene) => {
  const path = (...parts: string[]): string => join(scene.host.folder, ".microapps", ...parts);
  const nameOfIntent = async (): Promise<string> => (await readdir(path("intents")))[0] ?? "";
  const git = (...words: string[]): void => {
    const own = ["-c", "user.name=ada", "-c", "user.email=ada@example.com"];
    execFileSync("git", [...own, ...words], { cwd: scene.host.folder, stdio: "ignore" });
  };

  /** Ways in which a branch brings an intent along, with the message about it and how a person ends it. */
  const forgeries: Record<string, { bring: () => Promise<unknown>; said: RegExp; end: () => Promise<unknown> }> = {
    "tracked by Git": {
      bring: async () => {
        git("init");
        git("add", "-f", `.microapps/intents/${await nameOfIntent()}`);
        git("commit", "-m", "an intent");
      },
      said: /the intent file \.microapps\/intents\/\w+\.json is tracked by Git, so others may have written it: nothing was done/,
      end: () => rm(path("intents", "..", "..", ".git"), { recursive: true }).then(forget),
    },
    "behind a symbolic link": {
      bring: async () => {
        await rename(path("intents"), join(scene.host.folder, "elsewhere"));
        await symlink("../elsewhere", path("intents"));
      },
      said: /\.microapps\/intents is a symbolic link, so what stands behind it may be anybody's: nothing was done/,
      end: () => rm(path("intents")),
    },
  };
  const forget = async (): Promise<void> => rm(path("intents", await nameOfIntent()));
  /** The intent with another text in it, and the seal that it had. */
  const forge = async (change: Record<string, unknown>): Promise<void> => {
    const file = path("intents", await nameOfIntent());
    const told = JSON.parse(await readFile(file, "utf8")) as Record<string, unknown>; // an intent
    await writeFile(file, JSON.stringify({ ...told, ...change }));
  };
  const lost = (endpoint: "sendnotification" | "microappchildCreate"): void =>
    scene.emulator.setFaults({ faults: [{ endpoint, kind: "reset", commit: false, count: 3 }] });
  const nothing = async (work: () => Promise<unknown>, said: RegExp): Promise<void> =>
    expect(await scene.calls(() => expect(work()).rejects.toThrow(said))).toEqual([]);

  let news: Record<string, unknown>;
  let rowID: string;
  beforeEach(async () => {
    const request = { userEmail: "admin@example.com", appPrompt: "An atlas." };
    const { link } = await scene.client.createappwithprompt(request);
    news = { appID: link.split("/").at(-1) ?? "", email, message: "Welcome", triggers: { version: 1 } };
    rowID = (await scene.client.insertmicroapprow({ microAppID: "countries", rowData: { Code: "CZ" } })).rowID;
  });

  /** An unsent notification with an intent that claims the opposite. */
  const interrupted = async (): Promise<void> => {
    lost("sendnotification");
    await scene.failure(scene.create("Notification", news));
    scene.emulator.setFaults();
  };
  const sent = (): number => scene.emulator.notifications(email).inbox.length;

  for (const [name, { bring, said, end }] of Object.entries(forgeries)) {
    test(`a notification is sent although an intent ${name} says that it was`, async () => {
      await interrupted();
      await bring();
      await nothing(() => scene.create("Notification", news), said);
      await end();
      await scene.create("Notification", news);
      expect(sent()).toBe(1);
    });

    test(`a file of others is not taken for ours by an intent ${name}`, async () => {
      const file = await interruptedFile();
      await bring();
      await nothing(() => scene.create("RowFile", file), said);
      await end();
      await nothing(() => scene.create("RowFile", file), /already. Set adopt: true/);
    });
  }

  test("a notification is sent although an intent says that it was, with a seal that is not its own", async () => {
    await interrupted();
    const answer = { notificationCount: 1, pushCount: 1 };
    for (const change of [{ answer }, { answer, seal: "0".repeat(64) }, { answer, seal: undefined }]) {
      await forge(change);
      await nothing(() => scene.create("Notification", news), /does not have the seal of this user on this machine/);
    }
    await forget();
    await scene.create("Notification", news);
    expect(sent()).toBe(1);
  });

  /** A file that somebody else put on the row, and the intent of one of ours that was never made. */
  const interruptedFile = async (): Promise<Record<string, unknown>> => {
    const file = { table: "countries", rowID, fieldID: "flag", filename: "cz.png", size: 7 };
    lost("microappchildCreate");
    await expect(scene.create("RowFile", file)).rejects.toThrow();
    scene.emulator.setFaults();
    expect(await nameOfIntent()).toMatch(/\.json$/);
    const content = { filename: "cz.png", size: 1 };
    await scene.client.microappchildCreate({
      microAppResourceID: "countries",
      appID: rowID,
      fieldID: "flag",
      content,
    });
    return file;
  };

  test("a file of others is not taken for ours by an intent with a seal that is not its own", async () => {
    const file = await interruptedFile();
    for (const change of [{ startedAt: "2026-01-02T03:04:05Z" }, { seal: "0".repeat(64) }, { seal: undefined }]) {
      await forge(change);
      await nothing(
        () => scene.create("RowFile", file),
        /row \w+ has a file called "cz\.png" on field flag already. Set adopt: true/,
      );
    }
    await scene.create("RowFile", { ...file, adopt: true });
  });
});
