import { afterAll, beforeAll, expect, test } from "@jest/globals";
import fc from "fast-check";
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { changeSet, type ChangeSet } from "../../cli/changes/model/changeSet.ts";
import { readDeclaration, type Declared } from "../../cli/changes/model/source.ts";
import { json } from "../../cli/changes/rendering/json.ts";
import { Repository } from "../../cli/changes/testing/repository.ts";
import { reportOf } from "../../cli/commands/report/reporting.ts";
import { createEmulator, type Emulator } from "../../emulator/index.ts";
import { Enforcement } from "../../provider/approval/enforcement.ts";
import { signatureOf } from "../../provider/approval/signature.ts";
import type { Use } from "../../provider/approval/used.ts";
import { resourceNamed } from "../../provider/resources/resources.ts";
import { InProcessEngine, Refused } from "../gitops/inProcessEngine.ts";
import { isLong } from "../harness/drawn.ts";

// Whoever changes a file of the tree after approval, or the approved report: the run is refused, or makes the same calls.

const numRuns = Number(process.env["PROPERTY_RUNS"] ?? (isLong ? 2_000 : 30));
const login = { email: "admin@example.com", password: "correct-horse" };
const key = "a key that the apply job alone knows";
const people = ["ada@example.com", "bob@example.com", "cyd@example.com"];
const base = {
  "environments.yaml": "dev: { file: dev.yaml, endpoint: ENDPOINT }\n",
  "base.yaml": `organizations:
  acme:
    name: Acme
    teams:
      crew: { name: Crew, members: { ada@example.com: admin, bob@example.com: member } }
`,
  "dev.yaml": `extends: base.yaml
seeds:
  places: { table: places, key: Code, source: places.csv, maxRemovals: 1 }
  spots: { table: spots, key: Code, rows: [{ Code: L, Name: Lisbon }] }
`,
  "places.csv": "Code,Name\nN,North\nS,South\nE,East\n",
  "Pulumi.dev.yaml": "config:\n  microapps:email: admin@example.com\n",
  "index.js":
    'import { Environment } from "pulumi-microapps";\nnew Environment("environment", { file: "dev.yaml" });\n',
  "package.json": '{ "name": "tests", "type": "module" }\n',
};
const edits = {
  "dev.yaml": base["dev.yaml"].replace("Name: Lisbon", "Name: Lisboa"),
  "base.yaml": base["base.yaml"].replace("name: Crew", "name: Crew 2").replace("bob@", "cyd@"),
  "places.csv": base["places.csv"].replace("South", "Deep south").replace("E,East", "W,West"),
};

let emulator: Emulator;
let repository: Repository;
let outside: string;
let engine: InProcessEngine;
let begun: InProcessEngine["state"];
let report: ChangeSet;
let files: Record<string, string>;
let asApproved: string[];
const before = { ...process.env };

beforeAll(async () => {
  const fields = { Code: "text", Name: "text" } as const;
  const users = people.map((email) => ({ email, id: email }));
  emulator = await createEmulator({
    seed: { administrator: login, users, tables: { places: { fields }, spots: { fields } } },
  });
  outside = realpathSync(mkdtempSync(join(tmpdir(), "microapps-approved-")));
  Object.assign(process.env, { XDG_STATE_HOME: join(outside, "state"), PULUMI_HOME: join(outside, "home") });
  const own = { ...base, "environments.yaml": base["environments.yaml"].replace("ENDPOINT", emulator.url) };
  repository = new Repository(own);
  engine = new InProcessEngine({ endpoint: emulator.url, ...login }, "environment");
  await engine.run(declared(), true);
  begun = engine.state;
  emulator.saveSnapshot("begun");
  repository.write(edits);
  files = Object.fromEntries([...Object.keys(own), "Pulumi.yaml"].map((file) => [file, read(file)]));
  const set = await reportOf(repository.folder, { base: "HEAD", stacks: [], format: "json" });
  const made = changeSet.parse(JSON.parse(json(set)));
  report = approvedOnce(made, "0");
  const { calls, refusal } = await applied();
  expect(refusal).toBeUndefined();
  asApproved = calls;
});
afterAll(async () => {
  process.env = before;
  repository.remove();
  rmSync(outside, { recursive: true });
  await emulator.close();
});

/** The report as one approval signs it. */
function approvedOnce(made: ChangeSet, digit: string): ChangeSet {
  const approval = { nonce: digit.repeat(32), expires: "2100-01-01T00:00:00.000Z", signature: "0".repeat(64) };
  const unsigned = { ...made, approval };
  return { ...unsigned, approval: { ...approval, signature: signatureOf(unsigned, key) } };
}

const read = (file: string): string => readFileSync(join(repository.folder, file), "utf8");

function declared(): Declared {
  const found = readDeclaration("dev.yaml", repository.folder);
  if (!found.declared) throw new Refused(JSON.stringify(found.problems));
  return found.declared;
}

/** Calls that a run with the approval makes, from how things were when it was made. */
async function applied(
  text = JSON.stringify(report),
  forgets = true,
): Promise<{ calls: string[]; refusal: string | undefined }> {
  emulator.loadSnapshot("begun");
  engine.state = new Map(begun);
  writeFileSync(join(outside, "report.json"), text);
  if (forgets) rmSync(join(outside, "state"), { recursive: true, force: true });
  const since = emulator.lastCall();
  Object.assign(process.env, { MICROAPPS_APPROVED: join(outside, "report.json"), MICROAPPS_APPROVAL_KEY: key });
  let refusal: string | undefined;
  try {
    await engine.run(declared(), true);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    refusal = error.message;
  } finally {
    delete process.env["MICROAPPS_APPROVED"];
  }
  const calls = emulator.calls({ since, mutating: true });
  return { calls: calls.map(({ endpoint, request }) => `${endpoint} ${JSON.stringify(request)}`).toSorted(), refusal };
}

/** An edit of a text at a place. */
type Edit = (text: string, at: number, other: string) => string;
const edit: Readonly<Record<string, Edit>> = {
  insert: (text, at, other) => text.slice(0, at) + other + text.slice(at),
  remove: (text, at, other) => text.slice(0, at) + text.slice(at + other.length),
  overwrite: (text, at, other) => text.slice(0, at) + other + text.slice(at + other.length),
  twice: (text, at) => text + text.slice(at),
  cut: (text, at) => text.slice(0, at),
};
const pieces = [
  ...Array.from("\n :{}[],\"'#&*<\u2028\u0085\r\0"),
  "  eve@example.com: admin\n",
  "\nX,Evil\n",
  "name: Evil",
  "extends: other.yaml\n",
  "seeds: {}\n",
  "<<: *a\n",
];
/** Files that a tree does not have, by which some reader finds something else. */
const strangers: Readonly<Record<string, string>> = {
  "Pulumi.json": '{ "name": "tests", "runtime": "nodejs", "main": "evil.js" }',
  "Pulumi.yml": "name: tests\nruntime: nodejs\nmain: evil.js\n",
  "Pulumi.dev.json": '{ "config": { "microapps:email": "eve@example.com" } }',
  "Pulumi.dev.yml": "config: { microapps:email: eve@example.com }\n",
  "dev.yml": "organizations: {}\n",
  "other.yaml": "organizations: { acme: { name: Evil } }\n",
  ".microapps/evil.json": "{}",
  "lib.js": "process.exit();\n",
  "node_modules.js": "process.exit();\n",
  "sub/tsconfig.json": "{}\n",
  ".npmrc": "registry=https://evil.example\n",
};
const names = [...Object.keys(base), "Pulumi.yaml"];
const at = fc.double({ min: 0, max: 1, noNaN: true });
const treeChange = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.tuple(
      fc.constantFrom(...names),
      fc.constantFrom(...Object.keys(edit)),
      at,
      fc.constantFrom(...pieces),
    ),
  },
  fc.tuple(fc.constantFrom(...names), fc.constantFrom("gone", "link"), at, fc.constant("")),
  fc.tuple(fc.constantFrom(...Object.keys(strangers)), fc.constant("new"), at, fc.constant("")),
);

test("whatever file of the tree changes after approval, the run is refused or makes the same calls", async () => {
  await fc.assert(
    fc.asyncProperty(treeChange, async ([file, how, where, piece]) => {
      const place = join(repository.folder, file);
      const was = files[file];
      try {
        if (was === undefined) repository.write({ [file]: strangers[file] ?? "" });
        else if (how === "gone" || how === "link") {
          rmSync(place);
          if (how === "link") symlinkSync(join(outside, "report.json"), place);
        } else writeFileSync(place, edit[how]?.(was, Math.floor(where * was.length), piece) ?? "");
        const { calls, refusal } = await applied();
        // A refused run sends nothing at all: the files are compared first.
        expect(calls).toEqual(refusal === undefined ? asApproved : []);
        if (/^Pulumi/.test(file) && was === undefined) expect(refusal).toContain("is not accepted");
        if (/\.js$|config\.json$|npmrc$/.test(file) && was === undefined) expect(refusal).toContain("what runs");
      } finally {
        rmSync(place, { force: true });
        repository.write(files);
      }
    }),
    { numRuns },
  );
});

/** The places of all values in a report. */
const placesIn = (value: unknown, path: readonly string[] = []): (readonly string[])[] =>
  typeof value === "object" && value !== null
    ? [path, ...Object.entries(value).flatMap(([name, inner]) => placesIn(inner, [...path, name]))]
    : [path];

/** A report with one place that is otherwise: gone, another value, or one of another place. */
function otherwise(path: readonly string[], how: number, from: readonly string[]): unknown {
  const copy = structuredClone(report) as unknown;
  const valueAt = (place: readonly string[]): unknown =>
    place.reduce<unknown>((inner, name) => (inner as Record<string, unknown>)[name], copy);
  const [name = "", above] = [path.at(-1), valueAt(path.slice(0, -1)) as Record<string, unknown>];
  const instead = [undefined, null, "", [], {}, 0, true, ["create", "delete"], structuredClone(valueAt(from))][how];
  if (instead === undefined) Reflect.deleteProperty(above, name);
  else above[name] = instead;
  return copy;
}

test("whatever field of the approved report changes, the run is refused or makes the same calls", async () => {
  const places = placesIn(report).filter((path) => path.length > 0);
  const place = fc.constantFrom(...places);
  await fc.assert(
    fc.asyncProperty(place, fc.nat(8), place, async (path, how, from) => {
      const text = JSON.stringify(otherwise(path, how, from));
      const { calls, refusal } = await applied(text);
      expect(calls).toEqual(refusal === undefined ? asApproved : []);
      // Nothing but an equal value is accepted.
      if (refusal === undefined) expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(report)));
    }),
    { numRuns },
  );
});

test("an approval is for one run, whatever comes back; the next approval of the same report is for the next", async () => {
  const usedBefore = "a run was made with this approval already: each is for one run";
  const notes = join(outside, "state/pulumi-microapps/approvals");
  expect((await applied()).calls).toEqual(asApproved);
  // To the notes a second run of this process is the first one that goes on.
  for (const name of readdirSync(notes)) writeFileSync(join(notes, name), "another engine");
  const again = expect.stringContaining(usedBefore) as unknown;
  // Platform and state are as they were before it; then the report is written otherwise, and the tree is another commit's.
  expect(await applied(undefined, false)).toEqual({ calls: [], refusal: again });
  expect(await applied(JSON.stringify(report, undefined, 2), false)).toEqual({ calls: [], refusal: again });
  repository.commit();
  expect(await applied(undefined, false)).toEqual({ calls: [], refusal: again });
  const next = JSON.stringify(approvedOnce(report, "1"));
  expect(await applied(next, false)).toEqual({ calls: asApproved, refusal: undefined });
});

test("a provider with another endpoint or account, as an explicit one may have, is refused", async () => {
  const other = await createEmulator({ seed: { administrator: login } });
  const approvedEngine = engine;
  try {
    for (const [more, reason] of [
      [{ endpoint: other.url }, "it was approved for another endpoint"],
      [{ email: "eve@example.com" }, "it was approved for another account"],
    ] as const) {
      engine = new InProcessEngine({ endpoint: emulator.url, ...login, ...more }, "environment");
      const { calls, refusal } = await applied();
      expect([calls, refusal, other.calls()]).toEqual([[], expect.stringContaining(reason), []]);
    }
  } finally {
    engine = approvedEngine;
    await other.close();
  }
});

test("another kind of provider is a new thing and a deletion to an engine, and no approval has them", () => {
  const { seal } = report.environments[0] ?? {};
  if (!seal || "why" in seal) throw new Error("there is no seal");
  const resources = Object.fromEntries(
    Object.entries(seal.resources).map(([name, one]) => [name, { ...one, operations: ["same" as const] }]),
  );
  const use = { isUsed: () => false, begin: () => true, refuse: () => undefined } as unknown as Use;
  const { folder } = repository;
  const held = new Enforcement({ seal: { ...seal, resources }, use }, { folder, project: folder }, "run", () => false);
  const resource = resourceNamed("Team");
  if (!resource) throw new Error("there is no Team");
  const types = [
    "microapps:index:Environment$microapps:index:Team",
    "microapps:index:Environment$pulumi-nodejs:dynamic/microapps:Team",
  ];
  for (const type of types) {
    const asked = { resource, urn: `urn:pulumi:dev::tests::${type}::environment/acme/crew` };
    expect(() => held.creates(asked, { name: "Crew 2" })).toThrow("the approved report has no create of");
    expect(() => held.deletes(asked, "id", { name: "Crew" })).toThrow("the approved report has no delete of");
  }
});
