import { describe, expect, test } from "@jest/globals";
import { isUnchanged } from "../model/changeSet.ts";
import { eventsReport } from "./events.ts";

const urn = (type: string, name: string): string => `urn:pulumi:prod::project::${type}::${name}`;
const team = urn("microapps:index:Environment$microapps:index:Team", "crew");
const secret = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", plaintext: '"hush"' };

describe("events", () => {
  test("of the embedded engine, one a line: rows by key, settings by path", () => {
    const lines = [
      { type: "start", stack: "prod" },
      { type: "step", op: "same", urn: team },
      { type: "step", op: "create", urn: "urn:pulumi:prod::project::pulumi:pulumi:Stack::s" },
      { type: "step", op: "update", urn: team, changes: [{ path: "name", kind: "update", old: "Crew", new: "Staff" }] },
      {
        type: "step",
        op: "update",
        urn: urn("microapps:index:SeedRows", "cities"),
        changes: [
          { path: 'rows["A b"]', kind: "add" },
          { path: "rows.C", kind: "delete" },
        ],
      },
      { type: "step", op: "delete", urn: urn("microapps:index:TeamMember", "ada") },
      { type: "summary" },
    ];
    const { environments } = eventsReport(lines.map((line) => JSON.stringify(line)).join("\n"));
    expect(environments).toHaveLength(1);
    expect(environments[0]).toMatchObject({ name: "prod", stack: "prod" });
    expect(environments[0]?.change.things.map(({ op, kind, name, rows }) => [op, kind, name, rows])).toEqual([
      ["remove", "resource", "TeamMember ada", undefined],
      ["change", "seed", "cities", { add: 1, change: 0, remove: 1, same: 0 }],
      ["change", "team", "crew", undefined],
    ]);
  });

  test("say how much a deletion takes along, of either engine", () => {
    const seed = urn("microapps:index:SeedRows", "cities");
    const outputs = { rowCount: 24 };
    const own = { type: "step", op: "delete", urn: seed, properties: outputs };
    const pulumi = { steps: [{ op: "delete", urn: seed, oldState: { inputs: {}, outputs } }] };
    for (const text of [JSON.stringify(own), JSON.stringify(pulumi, null, 2)])
      expect(eventsReport(text).environments[0]?.change.things).toMatchObject([{ op: "remove", notes: ["24 rows"] }]);
  });

  test("of pulumi preview --json, which is one value, and of an event log", () => {
    const states = {
      old: { inputs: { name: "Crew", token: "[secret]", __provider: "a" } },
      new: { inputs: { name: "Staff", token: secret, __provider: "b" } },
    };
    const preview = JSON.stringify(
      { steps: [{ op: "update", urn: team, oldState: states.old, newState: states.new }] },
      null,
      2,
    );
    const log = JSON.stringify({
      sequence: 1,
      resourcePreEvent: { metadata: { op: "update", urn: team, old: states.old, new: states.new } },
    });
    for (const text of [preview, log]) {
      const set = eventsReport(text);
      expect(set.environments[0]?.change.things[0]?.changes).toEqual([
        { kind: "setting", op: "change", name: "name", fields: [{ name: "name", before: "Crew", after: "Staff" }] },
      ]);
      expect(JSON.stringify(set)).not.toContain("hush");
    }
  });

  test("that change nothing are an unchanged report; a text without events is refused", () => {
    const set = eventsReport(JSON.stringify({ type: "step", op: "same", urn: team }));
    expect(set.environments.every(isUnchanged)).toBe(true);
    for (const text of ["", "{}", "not json", "[1, 2]"]) expect(() => eventsReport(text)).toThrow("it has no events");
  });
});
