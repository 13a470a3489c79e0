import type { Change, ChangeSet, EnvironmentChanges, Thing } from "../changeSet.ts";

/** A row that changes. */
export const row = (name: string, before: unknown = "a", after: unknown = "b"): Change => ({
  ...{ kind: "row", op: "change", name, place: "data.csv:2" },
  fields: [{ name: "Name", before, after }],
});
/** A seed whose rows change. */
export const seed = (changes: Change[], more: Partial<Thing> = {}): Thing => ({
  ...{ kind: "seed", name: "cities", op: "change" },
  rows: { add: 0, change: changes.length, remove: 0, same: 0 },
  ...{ changes, omitted: 0, notes: [], guards: [] },
  ...more,
});
/** An environment with these changes. */
export const environment = (things: Thing[], more: Partial<EnvironmentChanges> = {}): EnvironmentChanges => ({
  ...{ name: "prod", change: { compared: true, things }, problems: [], flags: [], notes: [] },
  ...more,
});
/** A report of these environments. */
export const set = (environments: EnvironmentChanges[], more: Partial<ChangeSet> = {}): ChangeSet => ({
  ...{ version: 1, kind: "report", base: { ref: "main", commit: "0123456789abcdef" }, environments },
  ...more,
});

/** The kinds that a thing of an Environment is below. */
const above: Readonly<Record<string, string[]>> = {
  ...{ Team: ["Organization"], AppReadiness: ["GeneratedApp"] },
  ...{ TeamMember: ["Organization", "Team"], TeamRoster: ["Organization", "Team"] },
};

/** The URN of a thing in a state; `root` is of its Environment, without a name. */
export const stateUrn = (root: string, kind: string, name: string): string =>
  `${[root, ...(above[kind] ?? []), kind].join("$microapps:index:")}::${name}`;
