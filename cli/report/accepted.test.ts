import { describe, expect, test } from "@jest/globals";
import type { Section } from "./changeSet.ts";
import { accept, hasDrift, parseAccepted, withAccepted } from "./drift.ts";

const now = Date.parse("2030-01-10T12:00:00Z");
const section: Section = {
  compared: true,
  things: [
    {
      kind: "team",
      name: "acme/crew",
      op: "change",
      changes: [
        { kind: "person", op: "change", name: "ada@example.com", fields: [] },
        { kind: "person", op: "remove", name: "bob@example.com", fields: [] },
      ],
      omitted: 0,
      notes: [],
      guards: [],
    },
    { kind: "organization", name: "old", op: "remove", changes: [], omitted: 0, notes: [], guards: [] },
  ],
};
const entry = (more: string): string => `- { environment: prod, because: audit, until: 2030-02-01, ${more} }\n`;
const all =
  entry("thing: acme/crew, name: ada@example.com") +
  entry("thing: acme/crew, name: bob@example.com") +
  entry("thing: old");

describe("drift.yaml", () => {
  test("marks what it accepts, which is shown and is no drift any more", () => {
    const { section: marked, notes } = accept("prod", section, parseAccepted(all, now), now);
    expect(notes).toEqual([]);
    expect(marked.things[0]?.changes.map(({ accepted }) => accepted)).toEqual(
      Array(2).fill("audit (until 2030-02-01)"),
    );
    expect([hasDrift(section), hasDrift(marked)]).toEqual([true, false]);
  });

  test("accepts nothing of another environment, and one entry accepts one thing", () => {
    expect(hasDrift(accept("dev", section, parseAccepted(all, now), now).section)).toBe(true);
    const some = accept("prod", section, parseAccepted(entry("thing: acme/crew, name: ada@example.com"), now), now);
    expect(hasDrift(some.section)).toBe(true);
  });

  test("tells of entries that are over, which accept nothing, and of those that match nothing", () => {
    const text = `- { environment: prod, thing: old, because: audit, until: 2030-01-09 }\n${entry("thing: acme/crew, name: eve@example.com")}`;
    const { section: left, notes } = accept("prod", section, parseAccepted(text, now), now);
    expect(notes).toEqual([
      "drift.yaml:1:3: accepted until 2030-01-09, which is over: delete it, or renew it",
      "drift.yaml:2:3: accepts what is not there any more: delete it",
    ]);
    expect(left.things[1]?.accepted).toBeUndefined();
  });

  test.each([
    [
      "- { environment: prod, thing: a, because: b, until: 2030-04-11 }",
      "drift.yaml:1:53: until is more than 90 days away: name an earlier day",
    ],
    [
      "- { environment: prod, thing: a, name: '*@example.com', because: b, until: 2030-04-10 }",
      "drift.yaml:1:40: name must be exact: no pattern matches everything",
    ],
    [
      "- { environment: '*', thing: a, because: b, until: 2030-04-11 }\n- { thing: a }",
      "drift.yaml:1:18: environment must be exact: no pattern matches everything\ndrift.yaml:1:52: until is more than 90 days away: name an earlier day\ndrift.yaml:2:3: environment is required\ndrift.yaml:2:3: because is required\ndrift.yaml:2:3: until must be a day such as 2030-01-31",
    ],
    [
      "- { environment: prod, thing: '*', because: b, until: 2030-02-01 }",
      "drift.yaml:1:31: thing must be exact: no pattern matches everything",
    ],
    ["- { environment: prod, thing: a, until: 2030-02-01 }", "drift.yaml:1:3: because is required"],
    [
      "- { environment: prod, thing: a, because: b, until: soon }",
      "drift.yaml:1:53: until must be a day such as 2030-01-31",
    ],
    ["prod: {}", "drift.yaml:1:1: must be a list, not a map"],
    [
      "- {",
      "drift.yaml:1:4: is not valid YAML: Flow map in block collection must be sufficiently indented and end with a }; correct it",
    ],
  ])("%s is refused at its place", (text, message) => {
    expect(() => parseAccepted(text, now)).toThrow(new Error(message));
  });

  test("accepts for 90 days at most, that day included", () => {
    expect(parseAccepted("- { environment: prod, thing: a, because: b, until: 2030-04-10 }", now)).toHaveLength(1);
  });

  test("takes in what is there now, once, and keeps what stands there with its comments", () => {
    const text = "# reviewed by Ada\n- { environment: prod, thing: old, because: audit, until: 2030-02-01 }\n";
    const marked = accept("prod", section, parseAccepted(text, now), now).section;
    const written = withAccepted(text, [{ environment: "prod", section: marked }], "seen", "2030-02-02");
    expect(written).toContain("# reviewed by Ada");
    const entries = parseAccepted(written, now);
    expect(entries.map(({ thing, name }) => name ?? thing)).toEqual(["old", "ada@example.com", "bob@example.com"]);
    expect(hasDrift(accept("prod", section, entries, now).section)).toBe(false);
    const again = accept("prod", section, entries, now).section;
    expect(withAccepted(written, [{ environment: "prod", section: again }], "seen", "2030-02-02")).toBe(written);
    expect(parseAccepted(withAccepted("", [{ environment: "prod", section }], "seen", "2030-02-02"), now)).toHaveLength(
      3,
    );
  });
});
