import { describe, expect, test } from "@jest/globals";
import { copyFileSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { temporaryFolder } from "../../testing/harness/folders.ts";
import { schemaVersion } from "../data/database.ts";
import type { Emulator } from "../emulator.ts";
import { administrate, replyOf, signIn, start } from "../testing/platform.ts";

const country = { microAppID: "countries", rowData: { Code: "CZ", Population: 10_900_000 } };
const codes = async ({ url }: Pick<Emulator, "url">) => {
  const read = { microAppID: "countries", optViewSort: { sortVal2: 1 } };
  const rows = await (await signIn(url)).get("body.microAppRows", "microappdata", read);
  return (rows as { Code: string }[]).map(({ Code }) => Code);
};

/** A platform with something in each table of a snapshot. */
async function filled(options: object = {}): Promise<Emulator> {
  const emulator = await start({ settings: { generationSeconds: 0 }, ...options });
  const admin = await signIn(emulator.url);
  const row = await admin.get("rowID", "insertmicroapprow", country);
  await admin.get("status", "insertorganization", { organizationInfo: { _id: "acme", name: "Acme" } });
  await admin.get("status", "insertteam", { teamInfo: { _id: "crew", organizationID: "acme", name: "Crew" } });
  await admin.get("status", "insertteammembers", { teamIDs: ["crew"], emails: ["ada@example.com"] });
  await admin.call("createappwithprompt", { userEmail: "ada@example.com", appPrompt: "Count sheep" });
  const child = { microAppResourceID: "countries", appID: row, fieldID: "flag", content: { filename: "cz.png" } };
  await admin.get("childID", "microappchildCreate", child);
  return emulator;
}

/** Contents of a platform as its own interface shows them. */
async function shown(emulator: Pick<Emulator, "url" | "token">): Promise<unknown[]> {
  const parts = ["tables", "rows?table=countries&sort=Population", "organizations", "users"];
  const replies = await Promise.all(parts.map(async (part) => replyOf(await administrate(emulator, part))));
  return replies.map(({ status, body }) => [status, body]);
}

describe.each(["in memory", "with a data file"])("snapshots of a platform %s", (where) => {
  const options = () => (where === "in memory" ? {} : { data: join(temporaryFolder(), "platform.db") });

  test("are saved, compared, loaded and deleted while it runs", async () => {
    const emulator = await start(options());
    const admin = await signIn(emulator.url);
    const one = await admin.get("rowID", "insertmicroapprow", country);
    await admin.call("insertorganization", { organizationInfo: { _id: "acme", name: "Acme" } });
    emulator.saveSnapshot("before");
    expect(emulator.differences("before")).toEqual([]);
    const two = await admin.get("rowID", "insertmicroapprow", country);
    await admin.call("updatemicroapprow", { rowID: one, rowData: { Code: "SK" } });
    await admin.call("deleteorganization", { organizationID: "acme" });
    const none = { added: [], removed: [], changed: [] };
    expect(emulator.differences("before")).toEqual([
      { ...none, table: "rows", added: [two], changed: [one] },
      { ...none, table: "organizations", removed: ["acme"] },
      { ...none, table: "teams", removed: [expect.any(String)] },
      { ...none, table: "members", removed: [expect.any(String)] },
    ]);
    emulator.loadSnapshot("before");
    expect(emulator.differences("before")).toEqual([]);
    await admin.get("body.microAppRows", "microappdata", { microAppID: "countries" }); // its session went on
    await emulator.reset("empty");
    emulator.loadSnapshot("before");
    expect(await codes(emulator)).toEqual(["CZ"]);
    expect(emulator.snapshots()).toEqual(["before"]);
    emulator.saveSnapshot("before");
    emulator.deleteSnapshot("before");
    expect(emulator.snapshots()).toEqual([]);
    expect(() => emulator.loadSnapshot("before")).toThrow("Snapshot not found: before");
  });
});

test("snapshots are in the admin interface, and beside the data file for the next process", async () => {
  const data = join(temporaryFolder(), "platform.db");
  const emulator = await start({ data });
  const ask = async (method: string, name: string) =>
    replyOf(await administrate(emulator, `snapshots/${name}`, { method }));
  expect((await ask("PUT", "a")).status).toBe(200);
  await (await signIn(emulator.url)).call("insertmicroapprow", country);
  expect((await ask("GET", "a")).at("differences")).toMatchObject([{ table: "rows" }]);
  expect((await ask("GET", "")).at("snapshots")).toEqual(["a"]);
  const other = await start({ data });
  other.loadSnapshot("a");
  expect((await ask("GET", "a")).at("differences")).toEqual([]);
  expect((await ask("POST", "a")).status).toBe(200);
  expect((await ask("DELETE", "a")).status).toBe(200);
  for (const name of ["a", "..", "%"]) expect((await ask("POST", name)).status).toBe(404);
  for (const name of [`a"b`, "%", ""]) expect((await ask("PUT", name)).status).toBe(400);
});

describe("a snapshot's file", () => {
  test("brings everything to another emulator, without secrets, sessions and calls", async () => {
    const folder = temporaryFolder();
    const file = join(folder, "state.db");
    const administrator = { email: "admin@example.com", password: "pa55word-long", apiKey: "key-of-mine" };
    const secret = await start({ seed: { administrator } });
    const { token } = await signIn(secret.url, administrator.email, administrator.password);
    await secret.saveSnapshotFile(file);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const bytes = readFileSync(file, "latin1");
    for (const word of ["pa55word-long", "key-of-mine", token, secret.token, "insertmicroapprow"])
      expect(bytes).not.toContain(word);
    const emulator = await filled();
    await emulator.saveSnapshotFile(file);
    for (const data of [undefined, join(folder, "other.db")]) {
      const other = await start({ seed: undefined, snapshot: file, data });
      expect(await shown(other)).toEqual(await shown(emulator));
      await signIn(other.url, "ada@example.com", "ada");
      const admin = await signIn(other.url);
      const asked = { userEmail: "ada@example.com", appPrompt: "a" };
      expect((await admin.call("createappwithprompt", asked)).status).toBe(200); // its key is there
      await other.reset();
      expect((await replyOf(await administrate(other, "tables"))).at("tables")).toHaveLength(3);
    }
    // It counts when the data file is new.
    expect(
      await codes(await start({ seed: undefined, snapshot: join(folder, "none.db"), data: join(folder, "other.db") })),
    ).toEqual([]);
    expect(readdirSync(folder).filter((name) => name.includes("draft"))).toEqual([]);
  });

  test("goes with the profile, which counts where the emulator was not told another", async () => {
    const file = join(temporaryFolder(), "state.db");
    const formOf = async ({ url }: { url: string }) => {
      const admin = await signIn(url);
      const form = await admin.get("body.teamMembers", "teammembers", { teamID: "crew" });
      return typeof (form as unknown[])[0];
    };
    await (await filled({ profile: { version: 1, habits: { memberForm: "userIDs" } } })).saveSnapshotFile(file);
    expect(await formOf(await start({ seed: undefined, snapshot: file }))).toBe("string");
    const own = { version: 1, habits: { memberForm: "objects" } } as const;
    expect(await formOf(await start({ seed: undefined, snapshot: file, profile: own }))).toBe("object");
    const running = await start();
    await running.loadSnapshotFile(file);
    expect(await formOf(running)).toBe("string");
    running.setProfile(own);
    await running.loadSnapshotFile(file);
    expect(await formOf(running)).toBe("object");
  });

  test("that is broken, cut, of another version or no snapshot is refused, and changes nothing", async () => {
    const folder = temporaryFolder();
    const good = join(folder, "good.db");
    await (await filled()).saveSnapshotFile(good);
    const running = await start();
    running.saveSnapshot("before");
    const with_ = (name: string, change: (database: DatabaseSync, file: string) => void): string => {
      const file = join(folder, name);
      copyFileSync(good, file);
      const database = new DatabaseSync(file);
      change(database, file);
      database.close();
      return file;
    };
    const { size } = statSync(good);
    for (const [file, message] of [
      [with_("cut.db", (_, file) => truncateSync(file, size - 4096)), "it is broken, cut off or no snapshot"],
      [with_("short.db", (_, file) => truncateSync(file, 100)), "it is broken, cut off or no snapshot"],
      [with_("text.db", (_, file) => writeFileSync(file, "Dear diary,\n".repeat(99))), "no snapshot"],
      [join(folder, "none.db"), "there is no such file"],
      [with_("old.json.zst", (_, file) => writeFileSync(file, "old")), "is an SQLite file now"],
      [with_("new.db", (found) => found.exec(`PRAGMA user_version = ${schemaVersion + 1}`)), "of another version"],
      [with_("view.db", (found) => found.exec("CREATE VIEW v AS SELECT 1")), "no snapshot"],
      [with_("sort.db", (found) => found.exec("UPDATE fields SET sort = '1, x' WHERE sort = 1")), "a sort field"],
      [with_("row.db", (found) => found.exec("UPDATE rows SET data = '{'")), "the values of a row"],
      [
        with_("note.db", (found) =>
          found.exec(
            "UPDATE meta SET value = '{}' WHERE key = 'profile' OR key = 'seed'; INSERT OR REPLACE INTO meta VALUES ('profile', '{}')",
          ),
        ),
        "the profile: ",
      ],
    ] as const) {
      await expect(running.loadSnapshotFile(file)).rejects.toThrow(message);
      await expect(start({ seed: undefined, snapshot: file })).rejects.toThrow();
      expect(running.differences("before")).toEqual([]);
    }
    await expect(running.saveSnapshotFile(join(folder, "state.json.gz"))).rejects.toThrow("is an SQLite file now");
  });
});
