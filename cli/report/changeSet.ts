import { z } from "zod";

// The one model of a report: makers fill it in, renderers are functions of it. It is also the JSON that is published.

/** Stands for what nobody may read. */
export const secretText = "[secret]";

const op = z.enum(["remove", "replace", "change", "add"]);

const field = z.strictObject({
  name: z.string(),
  before: z.unknown().optional().meta({ description: "Absent where there was nothing." }),
  after: z.unknown().optional().meta({ description: "Absent where there will be nothing." }),
  secret: z
    .literal(true)
    .optional()
    .meta({ description: `Both values are shown as ${secretText}.` }),
});

const change = z.strictObject({
  kind: z.enum(["setting", "person", "row"]),
  op: z.enum(["remove", "change", "add"]),
  name: z.string().meta({ description: "Name of a setting, an e-mail address, or the natural key of a row." }),
  fields: z.array(field),
  place: z.string().optional().meta({ description: "file:line:column in the declaration." }),
  accepted: z.string().optional().meta({ description: "Why drift.yaml accepts it." }),
});

const tally = z.strictObject({ add: z.int(), change: z.int(), remove: z.int(), same: z.int() });

const thing = z.strictObject({
  kind: z.enum(["organization", "team", "seed", "app", "file", "notification", "resource"]),
  name: z.string().meta({ description: "Logical name; of a team organization/team." }),
  op,
  formerly: z.string().optional().meta({ description: "The name that it had before." }),
  place: z.string().optional(),
  people: tally.optional(),
  rows: tally.optional(),
  changes: z.array(change).meta({ description: "Removals first." }),
  omitted: z.int().meta({ description: "Changes that are counted and not listed." }),
  notes: z.array(z.string()),
  guards: z.array(z.string()).meta({ description: "Why a run would refuse it." }),
  accepted: z.string().optional().meta({ description: "Why drift.yaml accepts that the thing is gone." }),
});

const section = z.strictObject({
  compared: z.boolean(),
  why: z.string().optional().meta({ description: "Why it is not compared, or incomplete." }),
  unread: z
    .array(z.string())
    .optional()
    .meta({ description: "Seeds whose rows only an up can compare; those that the change is about are in why." }),
  things: z.array(thing).meta({ description: "Removals first." }),
  hints: z
    .array(z.string())
    .optional()
    .meta({ description: "Things that may only have another key, with the line that keeps each one what it is." }),
});

const note = z.strictObject({ text: z.string(), place: z.string().optional() });

const environment = z.strictObject({
  name: z.string(),
  stack: z.string().optional(),
  file: z.string().optional(),
  change: section.meta({ description: "The declaration at the base against the one of the working tree." }),
  pending: section.optional().meta({ description: "What an up would do: the state against the working tree." }),
  problems: z.array(note).meta({ description: "Mistakes and broken rules: a run would stop." }),
  plan: z
    .string()
    .optional()
    .meta({ description: "The digest of all that decides the next up, where the state can be read: sha256:…" }),
  flags: z.array(note).meta({ description: "Rules that are looser; another stack, file or endpoint." }),
  notes: z.array(z.string()),
});

const alsoChanged = z.strictObject({
  count: z.int(),
  files: z.array(z.string()).meta({ description: "Their paths from the top of the repository on, at most 1,000." }),
});

export const changeSet = z.strictObject({
  version: z.literal(1),
  kind: z.enum(["report", "drift", "between"]),
  base: z
    .strictObject({ ref: z.string(), commit: z.string(), behind: z.int().optional() })
    .optional()
    .meta({ description: "What the working tree is compared with; behind: commits of it that the branch lacks." }),
  alsoChanged: alsoChanged
    .optional()
    .meta({ description: "Changed files that no declaration reads: they may run in the pipeline." }),
  environments: z.array(environment),
});

export type ChangeSet = z.output<typeof changeSet>;
export type EnvironmentChanges = z.output<typeof environment>;
export type Section = z.output<typeof section>;
export type Thing = z.output<typeof thing>;
export type Change = z.output<typeof change>;
export type Field = z.output<typeof field>;
export type Tally = z.output<typeof tally>;
export type AlsoChanged = z.output<typeof alsoChanged>;
export type Note = z.output<typeof note>;

const kinds: Readonly<Record<string, Thing["kind"]>> = {
  Organization: "organization",
  Team: "team",
  SeedRows: "seed",
  GeneratedApp: "app",
  RowFile: "file",
  Notification: "notification",
};

/** The kind of thing that a report shows for a resource; undefined where it shows none of its own. */
export const toShownKind = (type: string): Thing["kind"] | undefined => kinds[type.slice(type.lastIndexOf(":") + 1)];

const rank = { remove: 0, replace: 1, change: 2, add: 3 } as const;

/** True if a thing is removed or loses something. */
const removes = ({ op, people, rows }: Thing): boolean =>
  op === "remove" || op === "replace" || (people?.remove ?? 0) + (rows?.remove ?? 0) > 0;

/** Compares by the order of a report: what is removed first, then what loses something. */
export const byWeight = (a: Thing, b: Thing): number =>
  rank[a.op] - rank[b.op] || Number(removes(b)) - Number(removes(a));

/** Things in that order; else as they were given. */
export const orderThings = (things: readonly Thing[]): Thing[] => things.toSorted(byWeight);

/** Changes in the order of a report. */
export const orderChanges = (changes: readonly Change[]): Change[] =>
  changes.toSorted((a, b) => rank[a.op] - rank[b.op]);

/** A tally of no changes. */
export const noTally = (): Tally => ({ add: 0, change: 0, remove: 0, same: 0 });

/** A section with the reason why it is empty. */
export const notCompared = (why: string): Section => ({ compared: false, why, things: [] });

/** A note behind its place. */
export const placed = ({ text, place }: Note): string => (place === undefined ? text : `${place}: ${text}`);

/** Sentences that would stop a run: problems with their places, then guards by thing. */
export const stops = ({ problems, change, pending }: EnvironmentChanges): string[] => [
  ...problems.map(placed),
  ...new Set(
    [...change.things, ...(pending?.things ?? [])].flatMap(({ name, guards }) =>
      guards.map((guard) => `${name}: ${guard}`),
    ),
  ),
];

/** True if the change itself is known to leave an environment alone, whatever is pending there. */
export const isUntouched = (environment: EnvironmentChanges): boolean =>
  environment.change.compared &&
  environment.change.things.length === 0 &&
  environment.flags.length === 0 &&
  stops(environment).length === 0;

/** True when an environment certainly stays unchanged. */
export const isUnchanged = (environment: EnvironmentChanges): boolean =>
  isUntouched(environment) && (environment.pending?.things.length ?? 0) === 0;

/** True where nothing can be pending that is not listed. */
export const isComplete = (section: Section | undefined): boolean =>
  section?.compared === true && section.why === undefined && section.unread === undefined;

/** The digest of a plan that has something to do, or may have; undefined where nobody needs it. */
export const shownPlan = ({ plan, pending }: EnvironmentChanges): string | undefined =>
  isComplete(pending) && pending?.things.length === 0 ? undefined : plan;

/** Characters of a value that are kept: a cell may have megabytes. */
const maxCharacters = 500;

/** Characters of a long value that stand before the first one that differs. */
const context = 40;

/** A value as a report keeps it: a long one as text that is cut, from shortly before `from` on. */
export function shortenValue(value: unknown, max = maxCharacters, from = 0): unknown {
  if (value === undefined || value === null || typeof value === "number" || typeof value === "boolean") return value;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (text.length <= max) return value;
  const start = Math.max(0, Math.min(from - context, text.length - max));
  const end = start + max < text.length ? "…" : "";
  return `${start > 0 ? "…" : ""}${text.slice(start, start + max)}${end} (${text.length} characters)`;
}

const asText = (value: unknown): string =>
  typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value);

/** Where two values begin to differ as texts. */
function firstDifference(one: unknown, other: unknown): number {
  const [a, b] = [asText(one), asText(other)];
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
}

/** A value as text in which nothing but its content counts: maps in the order of their keys. Nothing and null differ. */
export function stable(value: unknown): string {
  if (value === undefined) return "";
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

/** One field that differs. */
export function fieldOf(name: string, before: unknown, after: unknown, secret = false): Field {
  const from = firstDifference(before, after);
  const shown = (value: unknown): unknown => (secret ? secretText : shortenValue(value, maxCharacters, from));
  return {
    name,
    ...(before === undefined ? {} : { before: shown(before) }),
    ...(after === undefined ? {} : { after: shown(after) }),
    ...(secret ? { secret } : {}),
  };
}

type Values = Readonly<Record<string, unknown>>;

/** The fields that differ between two maps, in the order of the later one. */
export function fieldsOf(before: Values, after: Values, isSecret: (name: string) => boolean = () => false): Field[] {
  const names = [...new Set([...Object.keys(after), ...Object.keys(before)])];
  return names.flatMap((name) => {
    const [was, is] = [before[name], after[name]];
    return stable(was) === stable(is) ? [] : [fieldOf(name, was, is, isSecret(name))];
  });
}

/** Changes of settings, one for each field that differs; `place` finds the place of a setting in the declaration. */
export const settingChanges = (fields: readonly Field[], place?: (name: string) => string): Change[] =>
  fields.map((field) => ({
    kind: "setting",
    op: "change",
    name: field.name,
    fields: [field],
    ...(place && { place: place(field.name) }),
  }));
