import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { assertCommitted } from "../../cli/changes/base/committed.ts";
import { environmentsIn } from "../../cli/changes/base/environments.ts";
import { CountingReads } from "../../cli/changes/drift/countingReads.ts";
import { drift, type Look } from "../../cli/changes/drift/drift.ts";
import type { Section } from "../../cli/changes/model/changeSet.ts";
import { readDeclaration, type Declared } from "../../cli/changes/model/source.ts";
import { LiveFindings } from "../../cli/changes/pull/findings.ts";
import { listItems } from "../../cli/changes/pull/items.ts";
import { Layout } from "../../cli/changes/pull/layout.ts";
import { planPull, type Pulled } from "../../cli/changes/pull/pull.ts";
import { Repository } from "../../cli/changes/testing/repository.ts";
import { lookingContext } from "../../cli/commands/lookingContext.ts";
import { writeFiles } from "../../cli/edits/writing.ts";
import { createEmulator, type Emulator } from "../../emulator/index.ts";
import { createClient, type Client } from "../../provider/client/index.ts";
import { MemberLists } from "../../provider/client/lists/memberLists.ts";
import { InProcessEngine } from "./inProcessEngine.ts";
import { codes, files } from "./pulledFiles.ts";

// More with TEST_LONG=1; others with PROPERTY_SEED.
const numRuns = process.env["TEST_LONG"] ? 300 : 12;
const login = { email: "admin@example.com", password: "correct-horse" };
const people = ["ada", "bob", "eve", "kay"].map((name) => `${name}@example.com`);
const nothingWaits: Section = { compared: true, things: [] };

let emulator: Emulator;
let client: Client;
let repository: Repository;
let engine: InProcessEngine;

beforeAll(async () => {
  const fields = { Code: "text", Name: "text", Size: "number" } as const;
  const users = people.map((email) => ({ email, id: email }));
  const tables = { shared: { fields }, own: { fields }, inline: { fields } };
  emulator = await createEmulator({ seed: { administrator: login, users, tables } });
  client = createClient({ endpoint: emulator.url, ...login });
  repository = new Repository(files);
  engine = new InProcessEngine({ endpoint: emulator.url, ...login });
  await engine.run(declared(), true);
  emulator.saveSnapshot("applied");
});
let applied: InProcessEngine["state"];
beforeEach(() => {
  applied = new Map(engine.state);
});
afterEach(() => {
  reset();
  engine.state = applied;
});
afterAll(async () => {
  repository.remove();
  await client.close();
  await emulator.close();
});

function reset(): void {
  emulator.loadSnapshot("applied");
  repository.git("checkout", "--quiet", "--", ".");
  repository.git("clean", "--quiet", "-d", "--force");
}

function declared(file = "dev.yaml", folder = repository.folder): Declared {
  const reading = readDeclaration(file, folder);
  if (!reading.declared) throw new Error(JSON.stringify(reading.problems));
  return reading.declared;
}

const states = () =>
  [...engine.state].map(([key, { kind, id, outputs }]) => ({
    kind,
    name: key.slice(kind.length + 1),
    id,
    values: outputs,
  }));

interface Options {
  foreign?: boolean;
  into?: string;
  waiting?: Section;
  folder?: string;
}

/** Looks, and plans what becomes of the files. */
async function pull({
  foreign = false,
  into,
  waiting = nothingWaits,
  folder = repository.folder,
}: Options = {}): Promise<Pulled & { look: Look }> {
  const reader = createClient({ endpoint: emulator.url, ...login, readOnly: true });
  try {
    const lists = { ttlMs: Number.MAX_SAFE_INTEGER };
    const tables = new CountingReads(reader, lists);
    const members = new MemberLists(reader, lists);
    const settings = { endpoint: emulator.url, ...login };
    const signal = new AbortController().signal;
    const context = {
      ...lookingContext({ client: reader, members, tables }, settings, folder, signal),
      tables,
    };
    const findings = new LiveFindings(foreign);
    const look = await drift(states(), context, (text) => text, findings);
    const { entries } = environmentsIn(files["environments.yaml"]);
    const layout = new Layout(declared("dev.yaml", folder), { name: "dev", file: "dev.yaml" }, entries, into);
    return { ...(await planPull(await listItems(findings, layout, waiting), layout.declared)), look };
  } finally {
    await reader.close();
  }
}

const write = ({ files }: Pulled): Promise<void> => writeFiles(repository.folder, files);
const text = (file: string): string => readFileSync(join(repository.folder, file), "utf8");
const refusals = ({ items }: Pulled): string[] => items.flatMap(({ refused }) => refused ?? []);
const changedLines = (diff: string): string[] => diff.split("\n").filter((line) => /^[-+](?!--|\+\+)/.test(line));
const diff = (): string[] => changedLines(repository.git("diff", "--no-color", "--unified=0"));

async function rows(table: string): Promise<Map<string, string>> {
  const { microAppRows } = await client.microappdata({ microAppID: table, searchFilter: [{ skip: 0, limit: 1000 }] });
  return new Map(microAppRows.map((row) => [String(row["Code"]), row._id]));
}
async function editRow(table: string, code: string, rowData: Record<string, unknown>): Promise<void> {
  const rowID = (await rows(table)).get(code);
  if (rowID !== undefined) await client.updatemicroapprow({ rowID, microAppID: table, rowData });
}
async function removeRow(table: string, code: string): Promise<void> {
  const rowID = (await rows(table)).get(code);
  if (rowID !== undefined) await client.removemicroapprow({ rowID });
}
const idOf = (name: string): string => {
  const found = states().find((each) => each.name === name && ["Team", "Organization"].includes(each.kind));
  if (!found) throw new Error(name);
  return found.id;
};

/** After a pull the next run sends nothing, and the one after it has nothing to do. */
async function expectApplied(): Promise<void> {
  const since = emulator.lastCall();
  await engine.run(declared(), true);
  // People who are gone already are asked to leave once more, in vain.
  const changing = emulator.calls({ since, mutating: true }).filter(({ failure }) => !failure?.includes("not found"));
  expect(changing).toEqual([]);
  expect([...(await engine.run(declared(), false))]).toEqual([]);
  expect((await pull()).items).toEqual([]);
}

describe("where a change goes", () => {
  test("a file that this environment alone has is changed where the value stands; line ends and quotes stay", async () => {
    await editRow("own", "C3", { Name: "by hand" });
    await removeRow("own", "C4");
    const pulled = await pull();
    expect(pulled.items.map(({ thing, change }) => `${change.op} ${thing}/${change.name}`).sort()).toEqual([
      "change own/C3",
      "remove own/C4",
    ]);
    await write(pulled);
    expect(text("own.csv")).toBe(
      files["own.csv"].replace('"Name, C3"', '"by hand"').replace('C4,"Name, C4",4\r\n', ""),
    );
    expect(diff()).toHaveLength(3);
    await expectApplied();
  });

  test("what others have as well is overridden in the environment's own file", async () => {
    await editRow("shared", "C3", { Name: "by hand", Size: 33 });
    await editRow("shared", "C1", { Name: "again" });
    await removeRow("shared", "C4");
    await editRow("shared", "X1", { Size: 8 });
    await editRow("inline", "A", { Name: "Oh" });
    await client.updateteam({ teamID: idOf("acme/crew"), teamInfo: { name: "Crew by hand" } });
    await write(await pull());
    expect(diff()).toEqual([
      "-organizations: { acme: { teams: { crew: { members: { eve@example.com: member } } } } }",
      "+organizations: { acme: { teams: { crew: { members: { eve@example.com: member }, name: Crew by hand } } } }",
      '-      - { Code: C1, Name: "of dev" } # an override',
      '+      - { Code: C1, Name: "again" } # an override',
      "+      - { Code: C3, Name: by hand, Size: 33 }",
      "-      - { Code: X1, Name: added, Size: 7 }",
      "+      - { Code: X1, Name: added, Size: 8 }",
      "+    rows-:",
      "+      - C4",
      "+  inline:",
      "+    rows~:",
      "+      - Code: A",
      "+        Name: Oh",
    ]);
    await expectApplied();
  });

  test("people: a role, one who left, one who came to a roster", async () => {
    await client.updateteammember({ teamID: idOf("acme/crew"), userID: "bob@example.com", role: "admin" });
    await client.deleteteammember({ teamID: idOf("acme/crew"), userID: "ada@example.com" });
    await client.deleteteammember({ teamID: idOf("acme/crew"), userID: "eve@example.com" });
    await client.insertteammembers({ teamIDs: [idOf("acme/ops")], emails: ["kay@example.com"] });
    const pulled = await pull();
    expect(refusals(pulled)).toEqual([]);
    await write(pulled);
    expect(declared().declaration.organizations["acme"]?.teams).toMatchObject({
      crew: { members: { "bob@example.com": "admin" } },
      ops: { roster: { members: { "kay@example.com": "member" } } },
    });
    expect(text("base.yaml")).toBe(files["base.yaml"]);
    expect(text("dev.yaml")).toContain("ada@example.com: null");
    await expectApplied();
  });

  test("--into decides otherwise, and names what the environment does not extend", async () => {
    await editRow("own", "C3", { Name: "by hand" });
    await write(await pull({ into: "base.yaml" }));
    expect(text("own.csv")).toBe(files["own.csv"]);
    expect(text("base.yaml")).toContain("by hand");
    await expect(pull({ into: "prod.yaml" })).rejects.toThrow("the environment does not extend it");
  });

  test("--into leaves what a file above it overrides, and names that file", async () => {
    for (const code of ["C1", "C2", "X1"]) await editRow("shared", code, { Name: "by hand" });
    const pulled = await pull({ into: "base.yaml" });
    const overridden = "dev.yaml overrides what base.yaml says of it: leave --into base.yaml out";
    expect(pulled.items.map(({ change, refused }) => [change.name, refused]).sort()).toEqual([
      ["C1", overridden],
      ["C2", undefined],
      ["X1", overridden],
    ]);
    await write(pulled);
    expect(text("dev.yaml")).toBe(files["dev.yaml"]);
    expect(text("base.yaml")).toContain("Code: C2, Name: by hand");
  });

  test("--foreign takes rows that nobody owns", async () => {
    await client.insertmicroapprow({ microAppID: "own", rowData: { Code: "F1", Name: "theirs", Size: 5 } });
    expect((await pull()).items).toEqual([]);
    await write(await pull({ foreign: true }));
    expect(diff()).toEqual(["+F1,theirs,5\r"]);
  });
});

test("in a folder of a shallow clone, with a detached head and other line ends, the lines of what changed alone differ", async () => {
  const below = "projects/rows/";
  const crlf = { ...files, "dev.yaml": files["dev.yaml"].replaceAll("\n", "\r\n") };
  const origin = new Repository(Object.fromEntries(Object.entries(crlf).map(([file, text]) => [below + file, text])));
  const clone = join(origin.folder, ".git/clone");
  const git = (...words: string[]): string => origin.git("-C", clone, ...words);
  try {
    origin.git("config", "core.autocrlf", "false");
    origin.git("clone", "--quiet", "--depth=1", "--config=core.autocrlf=false", `file://${origin.folder}`, clone);
    git("checkout", "--quiet", "--detach");
    await editRow("own", "C3", { Name: "by hand" });
    await editRow("shared", "C1", { Name: "again" });
    await editRow("shared", "C3", { Size: 33 });
    const folder = join(clone, below);
    const pulled = await pull({ folder });
    expect(refusals(pulled)).toEqual([]);
    await writeFiles(folder, pulled.files);
    expect(changedLines(git("diff", "--no-color", "--unified=0"))).toEqual([
      '-      - { Code: C1, Name: "of dev" } # an override\r',
      '+      - { Code: C1, Name: "again" } # an override\r',
      "+      - { Code: C3, Size: 33 }\r",
      '-C3,"Name, C3",3\r',
      '+C3,"by hand",3\r',
    ]);
    // An edit would mix with what somebody has begun.
    await expect(assertCommitted(folder, ["dev.yaml", "own.csv", "shared.csv"])).rejects.toThrow(
      /^projects\/rows\/dev.yaml, projects\/rows\/own.csv are not committed: commit first, or go on with --dirty$/,
    );
    await assertCommitted(folder, ["shared.csv", "base.yaml"]);
  } finally {
    origin.remove();
  }
});

describe("what went wrong elsewhere", () => {
  test("a place that is not found leaves the file whole", async () => {
    await editRow("own", "C3", { Name: "by hand" });
    repository.write({ "own.csv": files["own.csv"].replace('C3,"Name, C3",3\r\n', "") });
    const before = text("own.csv");
    const pulled = await pull();
    expect(refusals(pulled)).toEqual([expect.stringContaining("do not declare this row any more")]);
    expect(pulled.files).toEqual([]);
    expect(text("own.csv")).toBe(before);
  });

  test("drift that is left out is named with the reason", async () => {
    await editRow("own", "C3", { Name: "by hand" });
    const waiting: Section = {
      compared: true,
      things: [
        {
          ...{ kind: "seed", name: "own", op: "change", omitted: 0, notes: [], guards: [] },
          rows: { add: 0, change: 1, remove: 0, same: 11 },
          changes: [{ kind: "row", op: "change", name: "C3", fields: [] }],
        },
      ],
    };
    expect(refusals(await pull({ waiting }))).toEqual([expect.stringContaining("not applied")]);
    expect(refusals(await pull({ waiting: { compared: false, things: [] } }))).toHaveLength(1);
  });

  test("edits of layout alone: a file that says what is live is not touched", async () => {
    repository.write({ "own.csv": files["own.csv"].replaceAll("\r\n", "\n") });
    const pulled = await pull();
    expect([pulled.items, pulled.files]).toEqual([[], []]);
  });

  test("somebody else's edit between look and writing is not overwritten", async () => {
    await editRow("own", "C3", { Name: "by hand" });
    const pulled = await pull();
    repository.write({ "own.csv": `${files["own.csv"]}C99,later,1\r\n` });
    await expect(write(pulled)).rejects.toThrow("changed by somebody else");
    expect(text("own.csv")).toContain("C99");
  });

  test("nothing is written through a link", async () => {
    await editRow("own", "C3", { Name: "by hand" });
    repository.write({ "elsewhere.csv": files["own.csv"] });
    repository.git("rm", "--quiet", "own.csv");
    symlinkSync("elsewhere.csv", join(repository.folder, "own.csv"));
    const pulled = await pull();
    repository.git("reset", "--quiet", "--hard");
    expect(refusals(pulled)).toEqual([expect.stringContaining("symbolic link")]);
  });

  test("an empty answer where there were rows removes nothing", async () => {
    for (const code of ["A", "B"]) await removeRow("inline", code);
    const pulled = await pull();
    expect(refusals(pulled)).toHaveLength(2);
    expect(pulled.files).toEqual([]);
  });

  test("more removals than maxRemovals are not taken", async () => {
    for (const code of codes.slice(0, 6)) await removeRow("own", code);
    const { look, files: edited } = await pull();
    expect(look.unread).toEqual([expect.stringContaining("maxRemovals")]);
    expect(edited).toEqual([]);
  });
});

const drifts = fc.array(
  fc.record({
    what: fc.constantFrom("edit", "edit", "remove", "role", "leave", "name", "description"),
    table: fc.constantFrom("shared", "own", "inline"),
    code: fc.constantFrom("C0", "C1", "C2", "C3", "X1", "A", "B"),
    word: fc.constantFrom("by hand", 'say "hi"', "a, b", "two\nlines", "# hash", "007", "yes", "- x", "ünï"),
    person: fc.constantFrom("ada@example.com", "bob@example.com", "eve@example.com"),
  }),
  { minLength: 1, maxLength: 5 },
);

test(
  "after a pull of any drift the next run sends nothing",
  async () => {
    await fc.assert(
      fc.asyncProperty(drifts, async (all) => {
        reset();
        engine.state = new Map(applied);
        for (const { what, table, code, word, person } of all) {
          if (what === "edit") await editRow(table, code, { Name: word });
          else if (what === "remove" && (await rows(table)).size > 1) await removeRow(table, code);
          else if (what === "name") await client.updateteam({ teamID: idOf("acme/crew"), teamInfo: { name: word } });
          else if (what === "description")
            await client.updateorganization({ organizationID: idOf("acme"), organizationInfo: { description: word } });
          else if (what === "role")
            await client
              .updateteammember({ teamID: idOf("acme/crew"), userID: person, role: "admin" })
              .catch(() => undefined);
          else if (what === "leave")
            await client.deleteteammember({ teamID: idOf("acme/crew"), userID: person }).catch(() => undefined);
        }
        const pulled = await pull();
        expect(refusals(pulled)).toEqual([]);
        await write(pulled);
        await expectApplied();
      }),
      { numRuns },
    );
  },
  60_000 + numRuns * 5_000,
);
