import { beforeAll, describe, expect, test } from "@jest/globals";
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Readable } from "node:stream";
import { constants, createZstdCompress, gunzipSync, gzipSync, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { eventually } from "../../testing/harness/processes.ts";
import { schemaVersion } from "../data/schema.ts";
import type { Emulator } from "../emulator.ts";
import { administrate, directory, replyOf, seed, signIn, start } from "../testing/platform.ts";
import { launch, run } from "../testing/processes.ts";
import { writeWhole } from "./snapshotFiles.ts";

const recorded = join(import.meta.dirname, "../../../emulator/testdata/version4.json.zst");
const country = { microAppID: "countries", rowData: { Code: "CZ", Population: 10_900_000 } };

/** A platform with something in each table of a snapshot. */
async function filled(): Promise<Emulator> {
  const emulator = await start({ now: () => 1_700_000_000_000, settings: { generationSeconds: 0 } });
  const admin = await signIn(emulator.url);
  const row = await admin.get("rowID", "insertmicroapprow", country);
  await admin.get("rowID", "insertmicroapprow", { microAppID: "currencies", rowData: { Code: "CZK" } });
  await admin.get("status", "insertorganization", { organizationInfo: { _id: "acme", name: "Acme" } });
  await admin.get("status", "insertteam", { teamInfo: { _id: "crew", organizationID: "acme", name: "Crew" } });
  await admin.get("status", "insertteammembers", { teamIDs: ["crew"], emails: ["ada@example.com"] });
  const app = await admin.call("createappwithprompt", { userEmail: "ada@example.com", appPrompt: "Count sheep" });
  expect(app.status).toBe(200);
  const child = { microAppResourceID: "countries", appID: row, fieldID: "flag", content: { filename: "cz.png" } };
  await admin.get("childID", "microappchildCreate", child);
  return emulator;
}

/** Contents of a platform as its interface shows them. */
async function shown(emulator: Pick<Emulator, "url" | "token">): Promise<unknown[]> {
  const parts = ["tables", "rows?table=countries&sort=Population", "organizations", "users"];
  const replies = await Promise.all(parts.map(async (part) => replyOf(await administrate(emulator, part))));
  return replies.map(({ status, body }) => [status, body]);
}

const textOf = (file: string): string => zstdDecompressSync(readFileSync(file)).toString();

describe("a snapshot's file", () => {
  test("is not written through a link that somebody else put in its folder", async () => {
    const folder = directory();
    const [file, target] = [join(folder, "state.json"), join(folder, "target")];
    symlinkSync(target, `${file}.${process.pid}.draft`);
    await writeWhole(file, Readable.from([Buffer.from("all of it")]));
    expect([existsSync(target), readFileSync(file, "utf8")]).toEqual([false, "all of it"]);
  });

  test("brings everything to another emulator, and the same state makes the same bytes", async () => {
    const folder = directory();
    const emulator = await filled();
    const names = ["state.json.zst", "state.json.gz", "state.json"].map((name) => join(folder, name));
    for (const name of names) await emulator.saveSnapshotFile(name);
    const [zstd = "", gzip = "", plain = ""] = names;
    expect(gunzipSync(readFileSync(gzip)).toString()).toBe(textOf(zstd));
    expect(readFileSync(plain, "utf8")).toBe(textOf(zstd));
    expect(statSync(zstd).mode & 0o777).toBe(0o600);
    for (const name of names) {
      const other = await start({ seed: undefined, snapshot: name });
      expect(await shown(other)).toEqual(await shown(emulator));
      const again = join(folder, "again.json.zst");
      await other.saveSnapshotFile(again);
      expect(readFileSync(again).equals(readFileSync(zstd))).toBe(true);
      // Its people sign in, its key and its sort fields are there, and a reset goes back to its seed.
      await signIn(other.url, "ada@example.com", "ada");
      const admin = await signIn(other.url);
      const sorted = { microAppID: "countries", optViewSort: { sortVal2: 1 } };
      expect(await admin.get("body.microAppRows", "microappdata", sorted)).toHaveLength(1);
      expect((await admin.call("createappwithprompt", { userEmail: "ada@example.com", appPrompt: "a" })).status).toBe(
        200,
      );
      await other.reset();
      expect((await replyOf(await administrate(other, "tables"))).at("tables")).toHaveLength(3);
    }
    expect(readdirSync(folder).sort()).toEqual(["again.json.zst", "state.json", "state.json.gz", "state.json.zst"]);
  });

  test("goes with the profile, which counts where the emulator was not told another", async () => {
    const file = join(directory(), "state.json");
    const kept = { version: 1, habits: { memberForm: "userIDs" } } as const;
    const emulator = await start({ profile: kept });
    await emulator.saveSnapshotFile(file);
    const profileOf = async (other: Pick<Emulator, "saveSnapshotFile">): Promise<unknown> => {
      const again = join(directory(), "again.json");
      await other.saveSnapshotFile(again);
      const line = readFileSync(again, "utf8").match(/^\["profile",.*$/m)?.[0];
      const [, text = "{}"] = JSON.parse(line ?? "[]") as string[];
      return (JSON.parse(text) as { habits?: object }).habits;
    };
    expect(await profileOf(await start({ seed: undefined, snapshot: file }))).toEqual(kept.habits);
    const own = { version: 1, habits: { cascade: "deletes" } } as const;
    expect(await profileOf(await start({ seed: undefined, snapshot: file, profile: own }))).toEqual(own.habits);
    const running = await start();
    await running.loadSnapshotFile(file);
    expect(await profileOf(running)).toEqual(kept.habits);
    running.setProfile(own);
    await running.loadSnapshotFile(file);
    expect(await profileOf(running)).toEqual(own.habits);
    // An instance on demand behaves as its emulator does, whatever it was copied from.
    const instance = await running.instance();
    expect(await profileOf(instance)).toEqual(own.habits);
    running.setProfile();
    expect(await profileOf(await running.instance())).toBeUndefined();
    const wrong = join(directory(), "wrong.json");
    writeFileSync(wrong, readFileSync(file, "utf8").replace('memberForm\\":\\"userIDs', 'memberForm\\":\\"none'));
    await expect(running.loadSnapshotFile(wrong)).rejects.toThrow(/wrong.json:\d+: the profile: habits/);
  });

  test("has no password, key or token", async () => {
    const emulator = await start({
      seed: { administrator: { email: "admin@example.com", password: "pa55word-long", apiKey: "key-of-mine" } },
    });
    const { token } = await signIn(emulator.url, "admin@example.com", "pa55word-long");
    const file = join(directory(), "state.json");
    await emulator.saveSnapshotFile(file);
    for (const secret of ["pa55word-long", "key-of-mine", token, emulator.token]) {
      expect(readFileSync(file, "utf8")).not.toContain(secret);
    }
  });

  test("of this version is read by all later ones", async () => {
    const emulator = await start({ seed: undefined, snapshot: recorded });
    expect(JSON.parse(textOf(recorded).split("\n")[0] ?? "")).toEqual({
      format: "microapps emulator snapshot",
      version: 4,
    });
    expect(emulator.snapshots()).toEqual([]);
    const admin = await signIn(emulator.url);
    const rows = await admin.get("body.microAppRows", "microappdata", { microAppID: "countries" });
    expect(rows).toMatchObject([{ Code: "CZ", Population: 10_900_000 }]);
    const members = await admin.get("body.teamMembers", "teammembers", { teamID: "crew" });
    expect((members as { email: string }[]).map(({ email }) => email)).toEqual([
      "admin@example.com",
      "ada@example.com",
    ]);
  });

  test("of version 1 has other names for columns", async () => {
    const lines = textOf(recorded)
      .replace('"version":4', '"version":1')
      .replaceAll('"seq"', '"n"')
      .replace('"is_all_members"', '"everyone"');
    const file = join(directory(), "old.json.gz");
    writeFileSync(file, gzipSync(lines));
    const [old, now] = [
      await start({ seed: undefined, snapshot: file }),
      await start({ seed: undefined, snapshot: recorded }),
    ];
    expect(await shown(old)).toEqual(await shown(now));
  });
});

describe("what is refused, with its place, and changes nothing", () => {
  let lines: string[];
  beforeAll(() => void (lines = textOf(recorded).trimEnd().split("\n")));
  const lineWith = (words: string): number => lines.findIndex((line) => line.includes(words));
  const withLine = (at: number, change: (line: string) => string): string =>
    lines.map((line, index) => (index === at ? change(line) : line)).join("\n");
  const row = () => lineWith("10900000");

  const mistakes: [string, () => string | Buffer, string][] = [
    [
      "a newer version",
      () => withLine(0, (line) => line.replace("4", String(schemaVersion + 1))),
      `:1: this snapshot is of version ${schemaVersion + 1}, and this emulator reads up to ${schemaVersion}`,
    ],
    ["another file", () => "Dear diary,\nnothing happened.\n", ":1: this is not JSON"],
    ["another JSON", () => '{"name": "x"}\n', ":1: this is no snapshot of the emulator"],
    ["nothing", () => "", ":1: this is no snapshot"],
    ["a cut text", () => lines.slice(0, -1).join("\n"), `:LAST: the snapshot is cut off here`],
    ["a cut archive", () => zstdCompressSync(lines.join("\n")).subarray(0, -30), ":"],
    ["a damaged archive", () => damaged(zstdCompressSync(lines.join("\n"), checked)), ":"],
    ["a row twice", () => withLine(row(), (line) => `${line}\n${line}`), ":ROW2: UNIQUE constraint failed: rows."],
    ["a row too few", () => withLine(row(), () => lines[0] ?? "").replace(/^.*\n/, ""), ":"],
    ["a value too many", () => withLine(row(), (line) => line.replace("[", "[1,")), ":ROW: a row of rows has"],
    [
      "a value of another kind",
      () => withLine(row(), (line) => line.replace("[", "[true,").replace(/,[^,]*\]$/, "]")),
      ":ROW: a value is neither",
    ],
    ["broken row data", () => withLine(row(), (line) => line.replace('"{', '"{{')), ":ROW: malformed JSON"],
    [
      "a hostile table",
      () => lines.join("\n").replaceAll('"countries"', `"x' OR 1"`),
      ": a table or a sort field can't",
    ],
    [
      "a column too many",
      () => lines.join("\n").replace('["created"', '["password2"'),
      "has no column named password2",
    ],
    [
      "settings that are none",
      () => lines.join("\n").replaceAll('\\"maximumLimit\\":', '\\"maximumLimits\\":'),
      "the seed: settings: ",
    ],
  ];

  test.each(mistakes)("%s", async (_name, content, message) => {
    const folder = directory();
    const file = join(folder, "broken.json.zst");
    writeFileSync(file, content());
    const data = join(folder, "platform.db");
    const emulator = await start({ data });
    const admin = await signIn(emulator.url);
    await admin.get("rowID", "insertmicroapprow", { microAppID: "countries", rowData: { Code: "SK" } });
    const before = await shown(emulator);
    const expected = message
      .replace("ROW2", String(row() + 2))
      .replace("ROW", String(row() + 1))
      .replace("LAST", String(lines.length));
    await expect(emulator.loadSnapshotFile(file)).rejects.toThrow(expected);
    await expect(emulator.loadSnapshotFile(file)).rejects.toThrow(file);
    expect(await shown(emulator)).toEqual(before);
    await expect(start({ seed: undefined, snapshot: file })).rejects.toThrow(expected);
  });

  test("a line without an end, of which a small archive may have any number of megabytes", async () => {
    const file = join(directory(), "endless.json.zst");
    const part = Buffer.alloc(1 << 20, "a");
    const endless = Readable.from(Array.from({ length: 300 }, (_, index) => (index === 0 ? `${lines[0]}\n` : part)));
    await writeWhole(file, endless.pipe(createZstdCompress()));
    expect(statSync(file).size).toBeLessThan(20_000);
    const emulator = await start();
    await expect(emulator.loadSnapshotFile(file)).rejects.toThrow(
      /it unpacks to more than 3\d MB, which no snapshot of its size does/,
    );
  });

  const checked = { params: { [constants.ZSTD_c_checksumFlag]: 1 } };
  const damaged = (bytes: Buffer): Buffer => {
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 0xff;
    return bytes;
  };
});

test("a snapshot with credentials that everybody knows is not served to other machines", async () => {
  const own = { administrator: { email: "root@example.com", password: "of my own", apiKey: "mine" } };
  const emulator = await start({ seed: own, host: "0.0.0.0" });
  await expect(emulator.loadSnapshotFile(recorded)).rejects.toThrow("everybody knows");
  await signIn(emulator.url, "root@example.com", "of my own");
  await expect(start({ seed: undefined, snapshot: recorded, host: "0.0.0.0" })).rejects.toThrow("everybody knows");
});

test("a seed beside a snapshot is refused, and so is a name that does not say how a file is packed", async () => {
  await expect(start({ seed, snapshot: recorded })).rejects.toThrow("give a seed or a snapshot");
  const emulator = await start();
  await expect(emulator.saveSnapshotFile("/tmp/state.zip")).rejects.toThrow("ends in .json.zst, .json.gz or .json");
  await expect(emulator.loadSnapshotFile("/nowhere.json")).rejects.toThrow(/^\/nowhere.json: ENOENT/);
});

test("an emulator that was killed while it read its snapshot reads it at its next start", async () => {
  const folder = directory();
  const data = join(folder, "platform.db");
  const large = join(folder, "large.json.zst");
  const source = await start();
  const admin = await signIn(source.url);
  const rows = Array.from({ length: 9000 }, (_, i) => ({ Code: `C${i}` }));
  for (let i = 0; i < 3; i++) await admin.get("status", "insertmicroapprows", { microAppID: "countries", rows });
  await source.saveSnapshotFile(large);
  const inFile = <Found>(sql: string): Found[] => {
    const connection = new DatabaseSync(data, { readOnly: true, timeout: 10_000 });
    try {
      return connection.prepare(sql).all() as Found[];
    } finally {
      connection.close();
    }
  };
  const drafts = () => inFile("SELECT name FROM sqlite_schema WHERE name GLOB 'draft:*:rows'");
  const first = launch("--data", data, "--snapshot", large);
  await eventually("a draft", () => statSync(data, { throwIfNoEntry: false }) && drafts().length > 0);
  await first.end("SIGKILL");
  expect([
    drafts().length,
    inFile("SELECT 1 FROM rows"),
    inFile("SELECT 1 FROM meta WHERE key = 'awaits'").length,
  ]).toEqual([1, [], 1]);
  const second = await run("--data", data, "--snapshot", large);
  const again = await signIn(second.url);
  const query = { microAppID: "countries", searchFilter: [{ limit: 100_000, skip: 0 }] };
  expect(await again.get("body.microAppRows", "microappdata", query)).toHaveLength(27_000);
  await second.end("SIGTERM");
  const third = await run("--data", data, "--snapshot", "/nowhere.json"); // it is in, so nothing is read
  expect(drafts()).toEqual([]);
  await third.end("SIGTERM");
});
