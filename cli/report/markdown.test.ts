import { describe, expect, test } from "@jest/globals";
import { type Change, type EnvironmentChanges, fieldOf, type Thing } from "./changeSet.ts";
import { markdown } from "./rendering.ts";
import { environment, row, seed, set } from "./testing/made.ts";

/** The comment as people read it. */
const read = (environments: EnvironmentChanges[], more: Parameters<typeof set>[1] = {}): string =>
  markdown(set(environments, more))
    .replaceAll("<!-- -->", "")
    .replaceAll(/&#(\d+);/g, (_, number) => String.fromCodePoint(Number(number)))
    .replaceAll(/<\/?code>/g, "");

const names = ["dev", "staging", "prod"];
const sealed = "rows of 10 seeds are compared when an update runs: the salt of the digests is encrypted in the state";
const setting = (name: string, before: unknown, after: unknown): Change => ({
  kind: "setting",
  op: "change",
  name,
  fields: [fieldOf(name, before, after)],
});
const person = (name: string, op: Change["op"], before?: string, after?: string): Change => ({
  kind: "person",
  op,
  name,
  fields: [fieldOf("role", before, after)],
});
const team = (changes: Change[], remove: number): Thing => ({
  ...seed(changes),
  kind: "team",
  name: "acme/crew",
  rows: undefined,
  people: { add: 0, change: changes.length - remove, remove, same: 3 },
});

describe("environments that change alike", () => {
  test("one row in three of them, with what is open: once, and at most 2,500 bytes", () => {
    const pending = { compared: true, why: sealed, things: [seed([row("A")])] };
    const all = names.map((name) => environment([seed([row("A")], { place: "base.yaml:12:3" })], { name, pending }));
    expect(Buffer.byteLength(markdown(set(all)))).toBeLessThanOrEqual(2_500);
    const text = read(all);
    expect(text).toContain("| ~ | seed | cities | 1 row changed | dev, staging and prod | base.yaml:12 |");
    expect(text.match(/salt/g)).toHaveLength(1);
    expect(text.match(/\| ~ \| row \|/g)).toHaveLength(1);
    expect(text).toContain("| prod | ~1 |  | ~1 | the same |  |");
  });

  test("what differs stands beside it, with its environments", () => {
    const [a, b] = [row("A"), row("B")];
    const text = read([
      environment([seed([a])], { name: "dev" }),
      environment([seed([a, b], { guards: ["too many"] })], { name: "prod" }),
    ]);
    expect(text).toContain("| ~ | seed | cities | 1 row changed | dev |  |");
    expect(text).toContain("| ~ | seed | cities | 2 rows changed; ⛔ | prod |  |");
    expect(text).toContain("| ~ | row | A | Name | a | b | data.csv:2 |");
    expect(text).toContain("| ~ | row | B in prod alone | Name | a | b | data.csv:2 |");
    expect(text).toContain("- prod cities: too many");
  });

  test("what is pending besides is listed", () => {
    const other = seed([row("Z")], { name: "older" });
    const text = read([environment([seed([row("A")])], { pending: { compared: true, things: [other] } })]);
    expect(text).toContain("**Pending besides**");
    expect(text).toContain("| ~ | seed | older | 1 row changed |  |");
  });

  test("a tree that changes nothing is one line, whatever is pending", () => {
    const pending = { compared: true, why: sealed, things: [seed([row("A")])] };
    const text = read(names.map((name) => environment([], { name, pending })));
    expect(text.trimEnd().split("\n")).toHaveLength(1);
    expect(text).toContain("Pending from before: dev 1 thing, staging 1 thing, prod 1");
    expect(text.match(/salt/g)).toHaveLength(1);
  });
});

describe("what a reviewer must have looked at", () => {
  test("removals, who gains or loses admin, and guards that are looser", () => {
    const things = [
      seed([], { name: "old", op: "remove", rows: { add: 0, change: 0, remove: 24, same: 0 }, omitted: 24 }),
      seed([row("A"), setting("maxRemovals", 0.1, 0.9), setting("adopt", undefined, true)]),
      seed([setting("maxRemovals", 0.9, 0.1), setting("onDestroy", "delete", "retain")], { name: "stricter" }),
      team(
        [
          person("ada@example.com", "remove", "admin"),
          person("bob@example.com", "change", "member", "admin"),
          person("cy@example.com", "add", undefined, "member"),
        ],
        1,
      ),
    ];
    const items = read([environment(things), environment(things, { name: "dev" })]).match(/^- \[ \] .*$/gm);
    expect(items).toEqual([
      "- [ ] What goes, prod and dev: seed old with 24 rows, ada@example.com from acme/crew",
      "- [ ] Who gains or loses admin, prod and dev: ada@example.com is no longer an admin of acme/crew, bob@example.com becomes admin of acme/crew",
      "- [ ] Guards that are looser, prod and dev: maxRemovals of cities: 0.1 → 0.9, adopt of cities: default → true",
    ]);
  });

  test("flags come first, and what has no room says so", () => {
    const flagged = (name: string, count: number): EnvironmentChanges =>
      environment([], {
        name,
        flags: Array.from({ length: count }, (_, at) => ({ text: `${name} decides ${at}`, place: "a.yaml" })),
      });
    const items = read([flagged("dev", 1), flagged("prod", 2)]).match(/^- \[ \] .*$/gm);
    expect(items).toEqual([
      "- [ ] dev: a.yaml: dev decides 0",
      "- [ ] prod: a.yaml: prod decides 0",
      "- [ ] prod: a.yaml: prod decides 1",
    ]);
    const many = read([flagged("w", 9_000)]);
    expect(Buffer.byteLength(many)).toBeLessThanOrEqual(60_000);
    expect(many).toMatch(/⛔ \d+ more have no room here: they are in the report in JSON/);
  });

  test("what else changed stands at the top, by name, and what is not named is counted", () => {
    const files = Array.from({ length: 40 }, (_, at) => `src/${at}.ts`);
    const text = read([environment([seed([row("A")])])], { alsoChanged: { count: 5_000, files } });
    const lines = text.split("\n");
    expect(lines[4]).toMatch(
      /^\*\*Also changed\*\*, may run in the pipeline: src\/0\.ts, .*, src\/29\.ts and ⛔ 4970 more/,
    );
    const quiet = read([environment([])], { alsoChanged: { count: 1, files: ["index.ts"] } });
    expect(quiet.split("\n").slice(1)).toEqual(["", "**Also changed**, may run in the pipeline: index.ts", ""]);
  });
});

describe("values", () => {
  const shown = (before: unknown, after: unknown): string[] => {
    const change = { ...row("A"), fields: [fieldOf("Name", before, after)] };
    return /\| A \| Name \| (.*) \| (.*) \| data/.exec(read([environment([seed([change])])]))?.slice(1) ?? [];
  };

  test.each([10, 90, 600, 5_000])("that are cut show the part that differs, behind %s letters", (length) => {
    const same = "a".repeat(length);
    const [before, after] = shown(`${same}good${same}`, `${same}EVIL${same}`);
    expect([before, after]).toEqual([expect.stringContaining("good"), expect.stringContaining("EVIL")]);
  });

  test("are never alike where they differ: nothing, null, an empty text, a number and its text", () => {
    expect(shown(null, undefined)).toEqual(["null", ""]);
    expect(shown(null, "null")).toEqual(["null", '"null"']);
    expect(shown("", undefined)).toEqual(['""', ""]);
    expect(shown(5, "5")).toEqual(["5", '"5"']);
  });

  test("of rows that come or go stand on one line", () => {
    const added: Change = {
      ...row("A"),
      op: "add",
      fields: [fieldOf("Code", undefined, "A"), fieldOf("Name", undefined, "Aachen"), fieldOf("Area", undefined, 3)],
    };
    expect(read([environment([seed([added])])])).toContain("| + | row | A |  |  | Name Aachen, Area 3 | data.csv:2 |");
  });
});
