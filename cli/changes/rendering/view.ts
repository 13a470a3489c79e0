import {
  secretText,
  sidesIn,
  stops,
  type Change,
  type ChangeSet,
  type EnvironmentChanges,
  type Thing,
} from "../model/changeSet.ts";
import { checklist, leads } from "./checklist.ts";
import { isConfusable } from "./confusables.ts";
import { findDone, besides, mergeThings, openPart, saysMore, group, type MergedThing, type Shared } from "./merged.ts";
import { sealLines } from "./sealLines.ts";
import { summary, toSigned, totals, toVisible, valueTexts, verbs } from "./text.ts";

// The page's content, as data: everything is computed here, and the page only writes it.

/** A line with the environments that it is about; none where it is about all. */
interface Line {
  text: string;
  environments: string[];
}

/** One change as the page shows it; a value that is not there is null. */
interface ShownChange {
  kind: Change["kind"];
  op: Change["op"];
  name: string;
  fields: (readonly [label: string, before: string | null, after: string | null])[];
  same: (readonly [label: string, value: string])[];
  where: string;
  /** Environments, where not all that have the thing have the change. */
  only: string[];
  accepted?: string;
  /** The name by which `promote --only` takes it; null where there is none. */
  pick: string | null;
}

/** Everything that the page shows. */
export function viewOf(set: ChangeSet): object {
  const lines = (textsOf: (environment: EnvironmentChanges) => readonly string[]): Line[] =>
    group(set.environments.flatMap((each) => textsOf(each).map((value) => ({ environment: each.name, value })))).map(
      ({ value, environments }) => ({ text: value, environments }),
    );
  return {
    kind: set.kind,
    base: set.base,
    between: listPromotable(set),
    environments: set.environments.map(countsOf),
    stops: lines(stops),
    checks: checklist(set).map(({ about, environments, names }) => ({ lead: leads[about], environments, names })),
    notes: [
      ...lines(({ change }) => [openPart(change) ?? []].flat()).flat(),
      ...lines(({ notes }) => notes),
      ...lines(sealLines),
      ...lines((each) =>
        findDone(each).map(({ kind, name }) => `${kind} ${name} is so already, an update has nothing to do`),
      ),
      ...lines(({ pending }) => (openPart(pending) === undefined ? [] : [`pending is ${openPart(pending) ?? ""}`])),
    ],
    sections: [
      {
        title: set.kind === "report" ? "This change" : "Changes",
        things: thingsOf(set, ({ change }) => change.things),
      },
      { title: "Pending besides this change", things: thingsOf(set, besides) },
    ].filter(({ things }, index) => index === 0 || things.length > 0),
  };
}

/** Environments between which something may be promoted: none where there is one alone, or a side is not its files. */
function listPromotable({ kind, environments }: ChangeSet): string[] {
  const names =
    kind === "report"
      ? environments.map(({ name }) => name)
      : kind === "changes"
        ? environments.flatMap(({ name }) => sidesIn(name))
        : [];
  return names.length > 1 && names.every((name) => /^[\w.-]+$/.test(name)) ? names : [];
}

/** A name that the page shows letter by letter, as a command takes it. */
const pickName = (name: string): string | null =>
  name.includes(secretText) || name.startsWith("-") || toVisible(name) !== name || isConfusable(name) ? null : name;

/** Counts of one environment: a row of the matrix. */
function countsOf(environment: EnvironmentChanges): object {
  const { name, change, pending } = environment;
  const { things, people, rows } = totals(change);
  const changed = { remove: things.remove, change: things.change + things.replace, add: things.add };
  const calls = pending?.calls === undefined ? "" : `, about ${pending.calls} calls`;
  const waiting = pending?.compared
    ? `${pending.things.length}${calls}${pending.why === undefined ? "" : ", not whole"}`
    : "not compared";
  return {
    name,
    counts: [changed, people, rows].map((counts) => (change.compared ? toSigned(counts) : "not compared")),
    pending: pending ? waiting : "",
    stops: stops(environment).length,
  };
}

const thingsOf = (set: ChangeSet, from: (environment: EnvironmentChanges) => readonly Thing[]): object[] =>
  mergeThings(set.environments, from).map(shownThing);

function shownThing(thing: MergedThing): object {
  const { kind, name, environments, heads, omitted, columns } = thing;
  const changes = thing.changes.filter(saysMore(thing)).map((each) => shownChange(each, thing));
  return {
    kind,
    name,
    environments,
    pick: pickName(name),
    op: heads[0]?.value.op,
    heads: heads.map(({ value, environments: where, places }) => ({
      text: [
        verbs[value.op],
        ...(summary(value) === "" ? [] : [summary(value)]),
        ...(value.formerly === undefined ? [] : [`formerly ${value.formerly}`]),
        ...(value.accepted === undefined ? [] : [`accepted: ${value.accepted}`]),
      ].join("; "),
      environments: where,
      where: places.join(" "),
      guards: value.guards,
      notes: value.notes,
    })),
    rows: changes.filter((each) => each.kind === "row"),
    others: changes.filter((each) => each.kind !== "row"),
    // Rows of what comes or goes as a whole are in its count.
    omitted: heads.some(({ value: { op } }) => op === "change" || op === "replace") ? omitted : 0,
    ...columnsOf(columns, thing.changes),
  };
}

/** The columns of a table, and those in which nothing changes. */
function columnsOf(
  declared: readonly string[],
  changes: readonly Shared<Change>[],
): { columns: string[]; folded: string[] } {
  const rows = changes.flatMap(({ value }) => (value.kind === "row" ? [value] : []));
  const isKey = (change: Change, label: string, value: unknown): boolean =>
    declared.length > 0 ? !declared.includes(label) : String(value) === change.name;
  const touched = new Set(
    rows.flatMap((row) =>
      row.fields.flatMap((field) =>
        row.op !== "change" && isKey(row, field.name, field.before ?? field.after) ? [] : [field.name],
      ),
    ),
  );
  const columns = [...new Set([...declared, ...touched])];
  return { columns, folded: columns.filter((label) => !touched.has(label)) };
}

function shownChange({ value, environments, places }: Shared<Change>, thing: MergedThing): ShownChange {
  const { kind, op, name, fields, same = {}, accepted } = value;
  return {
    kind,
    op,
    name,
    fields: fields.map((field) => {
      const [before, after] = valueTexts(field.before, field.after);
      return [field.name, field.before === undefined ? null : before, field.after === undefined ? null : after];
    }),
    same: Object.entries(same).map(([label, cell]) => [label, valueTexts(cell, undefined)[0]]),
    where: places.join(" "),
    pick: kind === "setting" ? null : pickName(`${thing.name}/${name}`),
    only: environments.length === thing.environments.length ? [] : environments,
    ...(accepted === undefined ? {} : { accepted }),
  };
}
