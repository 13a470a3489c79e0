import { createRequire } from "node:module";
import type unhomoglyph from "unhomoglyph";
import { z } from "zod";
import { printableJson, withoutCommands } from "../../engine/index.ts";
import { besideAlike, formatCount } from "../../platform/messages/text.ts";
import {
  byWeight,
  type Change,
  type ChangeSet,
  changeSet,
  type EnvironmentChanges,
  type Field,
  isComplete,
  isUnchanged,
  isUntouched,
  noTally,
  orderThings,
  placed,
  type Section,
  shownPlan,
  stops,
  type Tally,
  type Thing,
} from "./changeSet.ts";

// Controls, bidirectional marks, what is not seen and what looks like a line break: none of them stands anywhere raw.
const invisible = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]/gu;

/** A text of others as one line in which everything is seen: what is not stands there as its code. */
export const toVisible = (text: string): string =>
  text.replace(invisible, (char) => {
    const code = (char.codePointAt(0) ?? 0).toString(16);
    return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, "0")}`;
  });

/** Cuts a text to this length, with a mark at the cut. */
export function cut(text: string, maxLength: number): string {
  const letters = Array.from(text.slice(0, 2 * maxLength + 2)); // code points: none is cut in two
  return letters.length > maxLength || text.length > 2 * maxLength + 2
    ? `${letters.slice(0, maxLength).join("")}…`
    : text;
}

/** A value as people read it. */
const valueText = (value: unknown): string =>
  value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);

/** Two values as people read them: never alike where they differ, and an empty text is seen. */
function valueTexts(before: unknown, after: unknown): [before: string, after: string] {
  const isAlike = valueText(before) === valueText(after) && before !== undefined && after !== undefined;
  const text = (value: unknown): string =>
    value === "" || (isAlike && typeof value === "string") ? JSON.stringify(value) : valueText(value);
  return [text(before), text(after)];
}

/** Cuts two texts to this length such that the part in which they first differ is seen. */
function cutBoth(before: string, after: string, maxLength: number): [before: string, after: string] {
  const [one, other] = [Array.from(before), Array.from(after)];
  if (one.length <= maxLength && other.length <= maxLength) return [before, after];
  let at = 0;
  while (at < one.length && at < other.length && one[at] === other[at]) at++;
  const window = (letters: readonly string[]): string => {
    const start = Math.max(0, Math.min(at - Math.floor(maxLength / 4), letters.length - maxLength));
    const end = start + maxLength < letters.length ? "…" : "";
    return `${start > 0 ? "…" : ""}${letters.slice(start, start + maxLength).join("")}${end}`;
  };
  return [window(one), window(other)];
}

const sentences = new Intl.ListFormat("en-GB");

/** Names as a sentence has them: `dev, staging and prod`. */
export const inWords = (names: readonly string[]): string => sentences.format(names);

/** File and line of a place, which is all that people need to find it. */
const fileAndLine = (place: string): string => place.replace(/^(.*:\d+):\d+$/s, "$1");

export const verbs: Record<Thing["op"], string> = {
  remove: "removed",
  replace: "replaced",
  change: "changed",
  add: "added",
};
export const signs: Record<Thing["op"], string> = { remove: "−", replace: "±", change: "~", add: "+" };

/** In the order of a report. */
const ops = ["remove", "change", "add"] as const;
type Counts = Pick<Tally, (typeof ops)[number]>;

const tallied = (tally: Tally | undefined, what: string): string[] =>
  ops.flatMap((op) => (tally && tally[op] > 0 ? [`${formatCount(tally[op], what)} ${verbs[op]}`] : []));

/** Counts of three kinds, removals first: `−2 ~1 +4`, or nothing. */
const toSigned = (counts: Counts): string =>
  ops.flatMap((op) => (counts[op] > 0 ? [`${signs[op]}${counts[op]}`] : [])).join(" ");

/** Summary of a thing's changes, in words of ours alone: `2 rows removed, 1 setting`. */
export function summary({ op, people, rows, changes }: Thing): string {
  // Whatever comes or goes as a whole has all its settings.
  const isWhole = op === "add" || op === "remove";
  const settings = isWhole ? 0 : changes.filter(({ kind }) => kind === "setting").length;
  const counted = settings > 0 ? [formatCount(settings, "setting")] : [];
  return [...tallied(people, "person"), ...tallied(rows, "row"), ...counted].join(", ");
}

/** Exact counts of a section. */
function totals({ things }: Section): { things: Counts & { replace: number }; people: Tally; rows: Tally } {
  const counts = { ...noTally(), replace: 0 };
  const [people, rows] = [noTally(), noTally()];
  for (const thing of things) {
    counts[thing.op]++;
    for (const op of ops) {
      people[op] += thing.people?.[op] ?? 0;
      rows[op] += thing.rows?.[op] ?? 0;
    }
  }
  return { things: counts, people, rows };
}

let looks: typeof unhomoglyph | undefined;

/** By Unicode's table of confusables (UTS #39), which is loaded when the first letter of another script comes. */
const looksOf = (letter: string): string =>
  (looks ??= createRequire(import.meta.url)("unhomoglyph") as typeof unhomoglyph)(letter);

const looksLatin = /^[\x21-\x7e]+$/;

/** A word in which Latin letters stand beside those of another script. */
const mixed = /\p{Script=Latin}\p{M}*(?!\p{Script=Latin})\p{L}|(?!\p{Script=Latin})\p{L}\p{M}*\p{Script=Latin}/u;

/**
 * True for a text that may be taken for another: a word mixes Latin with another script, or every letter that is not
 * Latin looks Latin. A text with other letters of such a script is unmistakable.
 */
export function isConfusable(text: string): boolean {
  const composed = text.normalize("NFC");
  if (/^[\x20-\x7e]*$/.test(composed)) return false;
  if (mixed.test(composed)) return true;
  const foreign = Array.from(composed).filter((letter) =>
    /(?!\p{Script=Latin})\p{L}|[\uff21-\uff5a\u{1d400}-\u{1d7ff}]/u.test(letter),
  );
  return (
    foreign.length > 0 &&
    foreign.every((letter) => looksLatin.test(looksOf(letter)) || looksLatin.test(letter.normalize("NFKC")))
  );
}

// Environments that change alike are shown once.

/** A value with the environments that have it, and the places where it stands. */
interface Shared<Value> {
  value: Value;
  environments: string[];
  places: string[];
}

/** One thing as all environments have it: equal changes once, with the environments that they are in. */
interface MergedThing {
  kind: Thing["kind"];
  name: string;
  environments: string[];
  /** The thing's operation, without its changes; several where environments differ. */
  heads: Shared<Thing>[];
  changes: Shared<Change>[];
  /** Changes that are counted and not listed, in the environment with most of them. */
  omitted: number;
}

/** Equal values once, in the order in which they came first. */
export function group<Value>(
  entries: Iterable<{ environment: string; value: Value; place?: string | undefined }>,
  keyOf: (value: Value) => unknown = (value) => value,
): Shared<Value>[] {
  const all = new Map<unknown, Shared<Value>>();
  for (const { environment, value, place } of entries) {
    const key = keyOf(value);
    const known = all.get(key) ?? { value, environments: [], places: [] };
    all.set(key, known);
    if (known.environments.at(-1) !== environment) known.environments.push(environment);
    const where = place === undefined ? undefined : fileAndLine(place);
    if (where !== undefined && !known.places.includes(where)) known.places.push(where);
  }
  return [...all.values()];
}

/** What each environment has of some texts, equal ones once. */
export const shared = (
  environments: readonly EnvironmentChanges[],
  textsOf: (environment: EnvironmentChanges) => readonly string[],
): Shared<string>[] =>
  group(environments.flatMap((each) => textsOf(each).map((value) => ({ environment: each.name, value }))));

/** Things of several environments as one list: removals first, and things that differ beside each other. */
function mergeThings(
  environments: readonly EnvironmentChanges[],
  thingsOf: (environment: EnvironmentChanges) => readonly Thing[],
): MergedThing[] {
  const all = environments.flatMap((each) => thingsOf(each).map((value) => ({ environment: each.name, value })));
  const merged = [...Map.groupBy(all, ({ value }) => nameKey(value)).values()].flatMap((entries) => {
    const [first] = orderThings(entries.map(({ value }) => value));
    return first ? [{ first, thing: mergedThing(first, entries) }] : [];
  });
  return merged.toSorted((a, b) => byWeight(a.first, b.first)).map(({ thing }) => thing);
}

function mergedThing({ kind, name }: Thing, entries: readonly { environment: string; value: Thing }[]): MergedThing {
  const placed = <Value extends { place?: string | undefined }>(environment: string, value: Value) => ({
    ...{ environment, value, place: value.place },
  });
  const changes = entries.flatMap(({ environment, value }) => value.changes.map((one) => placed(environment, one)));
  let count = 0;
  return {
    ...{ kind, name, environments: entries.map(({ environment }) => environment) },
    heads: group(
      entries.map(({ environment, value }) => placed(environment, value)),
      headKey,
    ),
    // One environment has nothing to compare with.
    changes: group(changes, entries.length === 1 ? () => count++ : changeKey),
    omitted: Math.max(...entries.map(({ value }) => value.omitted)),
  };
}

const moved = (tally: Tally | undefined): number[] | undefined => tally && ops.map((op) => tally[op]);

/** A thing without its places and what stays the same in it. */
const headKey = ({ op, formerly, people, rows, changes, omitted, notes, guards, accepted }: Thing): string => {
  const settings = changes.filter(({ kind }) => kind === "setting").length;
  return JSON.stringify([op, formerly, moved(people), moved(rows), settings, omitted, notes, guards, accepted]);
};

const changeKey = ({ kind, op, name, fields, accepted }: Change): string =>
  JSON.stringify([kind, op, name, fields, accepted]);

/**
 * True for a change that adds to its thing's line: settings of a new thing count when a file has them, those of a
 * removed one never.
 */
const saysMore =
  ({ heads }: MergedThing) =>
  ({ value: { kind, op, place } }: Shared<Change>): boolean =>
    kind !== "setting" ||
    op === "change" ||
    heads.every(({ value: thing }) => thing.op !== "remove" && (thing.op !== "add" || place !== thing.place));

/** Things that are pending and that the change does not account for. */
export function besides({ change, pending }: EnvironmentChanges): Thing[] {
  const known = new Map(change.things.map((thing) => [nameKey(thing), thing]));
  // Incomplete pending changes show nothing beyond the change; a line of their own covers the rest.
  const isOpen = !isComplete(pending);
  return (pending?.things ?? []).filter((thing) => {
    const own = known.get(nameKey(thing));
    return own?.op !== thing.op || !isCovered(thing, own, isOpen);
  });
}

function isCovered(thing: Thing, by: Thing, isOpen: boolean): boolean {
  const countsOf = ({ people, rows }: Thing): number[] =>
    [people, rows].flatMap((tally) => moved(tally ?? noTally()) ?? []);
  const known = countsOf(by);
  return countsOf(thing).every((count, at) => count === known[at] || (isOpen && count < (known[at] ?? 0)));
}

const nameKey = ({ kind, name }: Thing): string => JSON.stringify([kind, name]);

/** The reason why a section is incomplete; undefined for a complete one. */
const openPart = (section: Section | undefined): string | undefined =>
  section?.why === undefined ? undefined : `${section.compared ? "incomplete" : "not compared"}: ${section.why}`;

const nothing: Record<ChangeSet["kind"], string> = {
  report: "nothing changes",
  drift: "no drift",
  between: "nothing differs",
};

/** Changes of one thing that are shown; a file has all of them. */
const maxShown = 20;

/** The report for a terminal, without colour or anything that moves a cursor. Equal changes of environments stand once. */
export function terminal(set: ChangeSet): string {
  const lines: string[] = [];
  const { base, environments } = set;
  if (base) {
    const { behind } = base;
    const lacking =
      behind === undefined ? "" : `, which has ${behind} commits that the branch lacks: shown from where it began`;
    lines.push(`Compared with ${toVisible(base.ref)} (${base.commit.slice(0, 12)})${lacking}`);
  }
  const { count, files } = set.alsoChanged ?? { count: 0, files: [] };
  if (count > 0) {
    const shown = files.slice(0, maxShown);
    lines.push("Also changed, may run in the pipeline:", ...shown.map((file) => `  ${cut(toVisible(file), 200)}`));
    if (count > shown.length) lines.push(`  and ${count - shown.length} more: look at the diff`);
  }
  for (const environment of environments) {
    const plan = shownPlan(environment);
    const texts = [
      ...stops(environment).map((text) => `stopped: ${text}`),
      ...environment.flags.map(({ text }) => `! ${text}`),
      ...environment.notes,
      ...(isUnchanged(environment) ? [nothing[set.kind]] : []),
      ...openTexts(environment),
      ...(plan === undefined ? [] : [`plan ${plan}`]),
    ];
    lines.push("", toVisible(environment.name), ...texts.map((text) => `  ${toVisible(text)}`));
  }
  if (environments.some((one) => shownPlan(one) !== undefined))
    lines.push("", "up --plan with the digest of a plan does just that, or nothing.");
  const isOne = environments.length === 1;
  const sections = [
    [set.kind === "report" ? "this change" : "", mergeThings(environments, (one) => one.change.things)],
    ["pending besides", mergeThings(environments, besides)],
  ] as const;
  for (const [title, things] of sections) {
    if (things.length === 0) continue;
    if (!isOne) lines.push("");
    if (title !== "") lines.push(`  ${title}`);
    for (const thing of things) lines.push(...thingLines(thing, isOne));
  }
  if (set.kind === "drift" && environments.some(({ change }) => change.things.length > 0))
    lines.push("", "pull takes it into the files, up --refresh repairs it, drift --tolerate leaves it for a time");
  return `${withoutCommands(lines.join("\n").trimStart())}\n`;
}

/** What is not compared, and how much is pending. */
function openTexts({ change, pending }: EnvironmentChanges): string[] {
  const { things = [] } = pending ?? {};
  const open = openPart(pending);
  return [
    ...[openPart(change) ?? []].flat(),
    ...(things.length > 0 ? [`pending: ${things.length === 1 ? "1 thing" : `${things.length} things`}`] : []),
    ...(open === undefined ? [] : [`pending: ${open}`]),
  ];
}

/** Environments behind a line, where not all have it. */
const only = (environments: readonly string[], isAll: boolean): string =>
  isAll ? "" : ` in ${inWords(environments.map(toVisible))}`;

function thingLines({ kind, name, heads, changes, omitted, environments }: MergedThing, isOne: boolean): string[] {
  const headLines = heads.flatMap(({ value, environments: where, places }) => {
    const { op, notes, accepted } = value;
    const what = summary(value);
    const place = places.length === 0 ? "" : `  (${places.map(toVisible).join(" ")})`;
    return [
      `  ${signs[op]} ${kind} ${toVisible(name)} ${verbs[op]}${what === "" ? "" : `: ${what}`}${only(where, isOne)}${place}`,
      ...[...notes, ...(accepted === undefined ? [] : [`accepted: ${accepted}`])].map(
        (text) => `      ${toVisible(text)}`,
      ),
    ];
  });
  const shown = changes.slice(0, maxShown);
  const more = changes.length - shown.length + omitted;
  return [
    ...headLines,
    ...shown.map(
      (change) =>
        `      ${changeLine(change.value)}${only(change.environments, change.environments.length === environments.length)}`,
    ),
    ...(more > 0 ? [`      and ${more} more`] : []),
  ];
}

/** A change in one line: `~ AT: Name Austira → Austria`. */
export function changeLine({ kind, op, name, fields, accepted }: Change): string {
  const text = (value: unknown): string => (value === undefined ? "nothing" : toVisible(valueText(value)));
  const parts = fields.map(({ name: label, before, after }) => {
    const [was, is] = cutBoth(text(before), text(after), 60);
    const what = { add: is, remove: was, change: `${was} → ${is}${besideAlike(before, after)}` }[op];
    return kind === "setting" ? what : `${toVisible(label)} ${what}`;
  });
  const values = parts.length === 0 ? "" : `: ${parts.join(", ")}`;
  return `${signs[op]} ${cut(toVisible(name), 120)}${values}${accepted === undefined ? "" : ` (accepted: ${toVisible(accepted)})`}`;
}

/** Bytes that a report has at most: a comment of GitHub takes 65,536 characters. */
const maxBytes = 60_000;
/** Bytes reserved for the line that counts the parts left out. */
const reserve = 600;
const limits = {
  name: 120,
  value: 80,
  row: 200,
  sentence: 500,
  listed: 50,
  environments: 12,
  names: 30,
  places: 3,
  open: 12,
};

/** Beginning of a report's first line, by which a bot finds its comment. */
export const marker = ({ kind }: Pick<ChangeSet, "kind">): string => `<!-- microapps-${kind} -->`;

/**
 * The report as a comment: what people must not miss first, then counts of all, details folded. The same report makes the
 * same bytes.
 */
export function markdown(set: ChangeSet): string {
  const also = alsoLines(set);
  if (set.environments.every(isUntouched))
    return [`${marker(set)} ${nothingChanges(set)}`, ...also.flatMap((line) => ["", line]), ""].join("\n");
  const page = new Comment(maxBytes - reserve);
  for (const line of [marker(set), "", `## ${title(set)}`, ...also.flatMap((each) => ["", each])]) page.row(line);
  page.list("Look at these before you merge", checkLines(set), Infinity);
  page.row("");
  // A table that is cut must keep its head.
  for (const line of overview(set)) page.row(line);
  const stopping = shared(set.environments, stops).map(
    ({ value, environments }) => `- ${named(environments)} ${code(value, limits.sentence)}`,
  );
  page.list("What stops it", stopping, limits.listed);
  for (const line of noteLines(set)) page.line("", line);
  const details = [
    ...section(page, set, "", ({ change }) => change.things),
    ...section(page, set, "Pending besides", besides),
  ];
  const few = details.reduce((sum, { rows }) => sum + rows.length, 0) <= limits.open;
  page.details(details, few);
  return page.end();
}

/** The line of changed files that no declaration reads. */
function alsoLines({ alsoChanged: also }: ChangeSet): string[] {
  if (!also || also.count === 0) return [];
  const names = also.files.slice(0, limits.names).map((file) => code(file, limits.name));
  const more = also.count - names.length;
  const rest = more > 0 ? ` and ⛔ ${more} more, which have no room here: look at the diff` : "";
  return [`**Also changed**, may run in the pipeline: ${names.join(", ")}${rest}`];
}

/** Environments in a sentence. */
function named(environments: readonly string[]): string {
  const names = environments.slice(0, limits.environments).map((name) => code(name, limits.name));
  const more = environments.length - names.length;
  return inWords(more > 0 ? [...names, `${more} more`] : names);
}

const titles: Record<ChangeSet["kind"], string> = {
  report: "What this change does",
  drift: "What was changed by hand",
  between: "What differs",
};
function title({ base, kind }: ChangeSet): string {
  if (!base) return titles[kind];
  const behind =
    base.behind === undefined
      ? ""
      : `; the branch lacks ${base.behind} commits of it, so this is shown from where it began`;
  return `${titles[kind]}, compared with ${code(base.ref, limits.name)} (${code(base.commit.slice(0, 12), 12)})${behind}`;
}

function nothingChanges(set: ChangeSet): string {
  const names = set.environments.map(({ name }) => name);
  const where = names.length === 0 ? "" : ` in ${named(names)}`;
  const waiting = set.environments.filter(({ pending }) => (pending?.things.length ?? 0) > 0);
  const pending = waiting
    .map((each) => `${code(each.name, limits.name)} ${pendingCount(each)}`)
    .slice(0, limits.listed);
  const first = pending.length === 0 ? "" : ` Pending from before: ${pending.join(", ")}.`;
  return [
    `${nothing[set.kind].replace(/^n/, "N")}${where}${set.base ? `, compared with ${code(set.base.ref, limits.name)}` : ""}.${first}`,
    ...openLines(set),
    ...planLines(set),
  ].join(" ");
}

/** The digests of plans, by which a run is held to what was looked at. */
const planLines = ({ environments }: ChangeSet): string[] =>
  environments.flatMap((environment) => {
    const plan = shownPlan(environment);
    return plan === undefined
      ? []
      : [
          `Plan of ${code(environment.name, limits.name)}, which \`up --plan\` runs or refuses: ${code(plan, limits.name)}.`,
        ];
  });

/** Lines about pending changes that can't be found out, one for the environments that share the reason. */
const openLines = ({ environments }: ChangeSet): string[] =>
  shared(environments, ({ pending }) => [openPart(pending) ?? []].flat()).map(
    ({ value, environments: where }) => `Pending in ${named(where)}: ${code(value, limits.sentence)}.`,
  );

function noteLines(set: ChangeSet): string[] {
  const { environments: all } = set;
  const notes = [...shared(all, ({ change }) => [openPart(change) ?? []].flat()), ...shared(all, ({ notes }) => notes)];
  return [
    ...notes.map(({ value, environments }) => `${named(environments)}: ${code(value, limits.sentence)}`),
    ...openLines(set),
    ...planLines(set),
  ];
}

function overview(set: ChangeSet): string[] {
  const rows = set.environments.map((environment) => {
    const { things, people, rows } = totals(environment.change);
    const changed = { remove: things.remove, change: things.change + things.replace, add: things.add };
    const counts = environment.change.compared
      ? [toSigned(changed), toSigned(people), toSigned(rows)]
      : ["not compared", "", ""];
    const stopped = stops(environment).length;
    return `| ${[code(environment.name, limits.name), ...counts, pendingCount(environment), stopped > 0 ? `${stopped} ⛔` : ""].join(" | ")} |`;
  });
  return ["| environment | things | people | rows | pending | stops |", "|-|-|-|-|-|-|", ...rows];
}

function pendingCount(environment: EnvironmentChanges): string {
  const { change, pending } = environment;
  if (!pending) return "";
  if (!pending.compared) return "not compared";
  const count = pending.things.length;
  const isSame = count > 0 && count === change.things.length && besides(environment).length === 0;
  const what = isSame ? "the same" : `${count} ${count === 1 ? "thing" : "things"}`;
  if (count === 0) return isComplete(pending) ? "nothing" : pending.why === undefined ? "" : "incomplete";
  return what;
}

/** Adds the table of things, and returns what each of them changes. */
function section(
  page: Comment,
  { environments }: ChangeSet,
  title: string,
  thingsOf: (environment: EnvironmentChanges) => readonly Thing[],
): Details[] {
  const things = mergeThings(environments, thingsOf);
  if (things.length === 0) return [];
  const isOne = environments.length === 1;
  const columns = ["", "", "", "what", ...(isOne ? [] : ["in"]), "where"];
  page.line(
    ...(title === "" ? [] : ["", `**${title}**`]),
    "",
    `| ${columns.join(" | ")} |`,
    `|${"-|".repeat(columns.length)}`,
  );
  return things.map((thing) => {
    const { kind, name, changes, omitted, heads } = thing;
    for (const head of heads) page.row(thingRow(head, isOne));
    const what = heads.length === 1 && heads[0] ? summary(heads[0].value) || verbs[heads[0].value.op] : "differs";
    return {
      title: `${title === "" ? "" : "pending "}${kind} ${code(name, limits.name)}: ${what}`,
      rows: changes.filter(saysMore(thing)).map((change) => () => changeRows(change, thing)),
      omitted: heads.some(({ value: { op } }) => op === "change" || op === "replace") ? omitted : 0,
    };
  });
}

const where = (places: readonly string[]): string => {
  const more = places.length - limits.places;
  return (
    places
      .slice(0, limits.places)
      .map((place) => code(place, limits.name))
      .join(" ") + (more > 0 ? ` and ${more} more` : "")
  );
};

function thingRow({ value: thing, environments, places }: Shared<Thing>, isOne: boolean): string {
  const { kind, name, op, formerly, notes, guards, accepted } = thing;
  const renamed = formerly === undefined ? "" : ` (was ${code(formerly, limits.name)})`;
  const counts = summary(thing);
  const details = [
    ...(counts === "" || op !== "change" ? [verbs[op]] : []),
    ...(counts === "" ? [] : [counts]),
    ...(accepted === undefined ? [] : [`accepted: ${code(accepted, limits.sentence)}`]),
    ...notes.map((note) => code(note, limits.sentence)),
    ...(guards.length > 0 ? ["⛔"] : []), // each of them stands above
  ];
  const cells = [
    signs[op],
    kind,
    `${code(name, limits.name)}${renamed}`,
    details.join("; "),
    ...(isOne ? [] : [named(environments)]),
    where(places),
  ];
  return `| ${cells.join(" | ")} |`;
}

function changeRows({ value: change, environments, places }: Shared<Change>, thing: MergedThing): string {
  const { kind, op, name, fields, accepted } = change;
  const mark = accepted === undefined ? "" : ` accepted: ${code(accepted, limits.sentence)}`;
  const only = environments.length === thing.environments.length ? "" : ` in ${named(environments)} alone`;
  const start = [signs[op], kind, `${code(name, limits.name)}${mark}${only}`];
  const line = (label: string, before: string, after: string): string[] => [label, before, after];
  const ends = kind === "row" && op !== "change" ? cellsText(name, fields) : undefined;
  const lines =
    ends !== undefined || fields.length === 0
      ? [op === "add" ? line("", "", ends ?? "") : line("", ends ?? "", "")]
      : fields.map((field) => line(kind === "setting" ? "" : code(field.name, limits.name), ...valueCells(field)));
  return lines
    .map(
      (cells, at) =>
        `| ${[...(at === 0 ? start : ["", "", ""]), ...cells, at === 0 ? where(places) : ""].join(" | ")} |`,
    )
    .join("\n");
}

/** Cells of a row that comes or goes, on one line; those of its key are its name. */
function cellsText(name: string, fields: readonly Field[]): string | undefined {
  const cells = fields.flatMap((field) => {
    const value = field.before ?? field.after;
    return valueText(value) === name ? [] : [`${field.name} ${valueTexts(value, undefined)[0]}`];
  });
  return cells.length === 0 ? undefined : code(cells.join(", "), limits.row);
}

/** The old and the new value of a field; one that is not there is an empty cell. */
function valueCells({ before, after }: Field): [before: string, after: string] {
  const [was, is] = valueTexts(before, after);
  const texts = cutBoth(toVisible(was), toVisible(is), limits.value);
  const cell = (value: unknown, text: string): string => (value === undefined ? "" : code(text, limits.value + 2));
  return [cell(before, texts[0]), cell(after, texts[1])];
}

// What whoever merges must have looked at. Equal words of several environments stand once.

function checkLines({ kind, environments: all }: ChangeSet): string[] {
  if (kind !== "report") return [];
  const flags = shared(all, (each) => [...new Set(each.flags.map(flagText))]);
  const lists = Object.entries({
    "What goes": removalsOf,
    "Who gains or loses admin": adminTexts,
    "Guards that are looser": guardTexts,
  }).flatMap(([lead, textsOf]) => {
    const found = shared(all, ({ change, pending }) => [
      ...new Set([...change.things, ...(pending?.things ?? [])].flatMap(textsOf)),
    ]);
    return [...Map.groupBy(found, ({ environments }) => named(environments))].map(([where, texts]) => {
      const names = texts.slice(0, limits.names).map(({ value }) => code(value, limits.name));
      const more = texts.length - names.length;
      return `- [ ] ${lead}, ${where}: ${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
    });
  });
  return [
    ...flags.map(({ value, environments }) => `- [ ] ${named(environments)}: ${code(value, limits.sentence)}`),
    ...lists,
  ];
}

/** A flag behind its place, where it does not begin with that. */
const flagText = (flag: EnvironmentChanges["flags"][number]): string =>
  flag.place !== undefined && flag.text.startsWith(`${flag.place} `) ? flag.text : placed(flag);

const countOf = (count: number | undefined, noun: string): string[] =>
  (count ?? 0) > 0 ? [formatCount(count ?? 0, noun)] : [];

/** Rows and people that leave a thing, or the thing with all that it has. */
function removalsOf({ kind, name, op, people, rows, changes }: Thing): string[] {
  const counts = [...countOf(people?.remove, "person"), ...countOf(rows?.remove, "row")];
  if (op === "remove") return [`${kind} ${name}${counts.length === 0 ? "" : ` with ${counts.join(" and ")}`}`];
  const leaving = changes.flatMap((each) => (each.kind === "person" && each.op === "remove" ? [each.name] : []));
  const isListed = leaving.length > 0 && leaving.length === (people?.remove ?? 0);
  return [
    ...(op === "replace" ? [`${kind} ${name}, which is replaced`] : []),
    ...(isListed ? leaving : countOf(people?.remove, "person")).map((text) => `${text} from ${name}`),
    ...countOf(rows?.remove, "row").map((text) => `${text} of ${name}`),
  ];
}

const adminTexts = ({ name: team, changes }: Thing): string[] =>
  changes.flatMap(({ kind, name, fields }) => {
    const role = kind === "person" ? fields.find((field) => field.name === "role") : undefined;
    const [was, is] = [role?.before === "admin", role?.after === "admin"];
    if (was === is) return [];
    return is ? `${name} becomes admin of ${team}` : `${name} is no longer an admin of ${team}`;
  });

const isNumber = (value: unknown): value is number => typeof value === "number";

/** True where a list has lost nothing; none that is there has everything. */
const hasAllOf = ({ before = [], after }: Pick<Field, "before" | "after">): boolean =>
  Array.isArray(after) && Array.isArray(before) && before.every((label) => after.includes(label));

/** By setting: true when a new value is as strict as the old one. */
const strict: Readonly<Record<string, (field: Pick<Field, "before" | "after">) => boolean>> = {
  maxRemovals: ({ before, after }) => isNumber(before) && isNumber(after) && after <= before,
  minAdmins: ({ before, after }) => isNumber(after) && after >= (isNumber(before) ? before : 0),
  keepSelf: ({ after }) => after !== false,
  onDestroy: ({ after }) => after === "retain",
  onConflict: ({ after }) => after === "error" || after === "keepLive",
  mode: ({ after }) => after !== "exact" && after !== "authoritative",
  adopt: ({ after }) => after === undefined || after === false,
  ignoreActionRules: ({ after }) => after !== true,
  sensitive: ({ after }) => after === true,
  secretLabels: hasAllOf,
  "expect.unique": hasAllOf,
  "expect.notNull": hasAllOf,
  "expect.rowCount.min": ({ before = 0, after }) => isNumber(after) && isNumber(before) && after >= before,
  "expect.rowCount.max": ({ before = Infinity, after }) => isNumber(after) && isNumber(before) && after <= before,
  "expect.acceptedValues": ({ before, after }) =>
    before === undefined || (after !== undefined && hasAllOf({ before: after, after: before })),
  "expect.relationships": ({ before }) => before === undefined,
  expect: ({ after }) => after !== undefined,
};

/** By a setting, or by the one that it is a part of. */
const strictness = (name: string): ((field: Pick<Field, "before" | "after">) => boolean) | undefined =>
  Object.entries(strict).find(([setting]) => name === setting || name.startsWith(`${setting}.`))?.[1];

function guardTexts({ op, name: thing, changes }: Thing): string[] {
  if (op === "add" || op === "remove") return [];
  return changes.flatMap(({ kind, name, fields: [field] }) => {
    if (kind !== "setting" || !field || (strictness(name)?.(field) ?? true)) return [];
    const [was, is] = cutBoth(...valueTexts(field.before, field.after), 60);
    return `${name} of ${thing}: ${was === "" ? "default" : was} → ${is === "" ? "default" : is}`;
  });
}

/**
 * A text of others: inside of an element, in which every character that could mean something stands as its number. So no
 * text makes a link, an image, a mention, a heading, or ends the cell that it stands in.
 */
export function code(text: string, length: number): string {
  const encoded = cut(toVisible(text), length)
    .replace(/[^\p{L}\p{M}\p{N} ]/gu, (char) => `&#${char.codePointAt(0) ?? 0};`)
    // GitHub looks for addresses once entities are decoded, between elements alone.
    .replace(/&#64;|&#58;(?=&#47;)|(?<=www)&#46;/gi, "$&<!-- -->");
  return `<code>${encoded === "" ? "&#8203;" : encoded}</code>${isConfusable(text) ? " ⚠ letters of several scripts" : ""}`;
}

/** The changes of one thing, folded away unless they are few. */
interface Details {
  title: string;
  rows: readonly (() => string)[];
  /** Changes that are counted and not listed anywhere. */
  omitted: number;
}

const sizeOf = (lines: readonly string[]): number => lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);

/** The lines of a report within a number of bytes; what does not fit is counted. */
class Comment {
  readonly #lines: string[] = [];
  #left: number;
  #cutRows = 0;
  #cutChanges = 0;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  /** Adds lines that belong together, or none of them. */
  line(...lines: string[]): boolean {
    const bytes = sizeOf(lines);
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    this.#lines.push(...lines);
    return true;
  }

  /** Adds a line that counts as cut when there is no room for it. */
  row(line: string): void {
    if (!this.line(line)) this.#cutRows++;
  }

  /** Adds a list with its title, and counts the entries left out. */
  list(title: string, lines: readonly string[], max: number): void {
    if (lines.length === 0) return;
    this.line("", `### ${title}`, "");
    let shown = 0;
    for (const line of lines.slice(0, max)) if (this.line(line)) shown++;
    if (lines.length > shown)
      this.#lines.push(`- ⛔ ${lines.length - shown} more have no room here: they are in the report in JSON`);
  }

  /** Gives each of them its share of the room that is left: what a small one does not need the larger ones have. */
  details(all: readonly Details[], isOpen: boolean): void {
    const bySize = all.toSorted((a, b) => a.rows.length - b.rows.length);
    let left = this.#left;
    const blocks = new Map<Details, string[]>();
    for (const [index, each] of bySize.entries()) {
      const block = this.#block(each, isOpen, left / (bySize.length - index));
      blocks.set(each, block);
      left -= sizeOf(block);
    }
    for (const each of all) this.line(...(blocks.get(each) ?? []));
  }

  #block({ title, rows: made, omitted }: Details, isOpen: boolean, share: number): string[] {
    const table = ["| | | | | before | after | where |", "|-|-|-|-|-|-|-|"];
    const opening = ["", isOpen ? "<details open>" : "<details>", `<summary>${title}</summary>`, "", ...table];
    const closing = ["", "</details>"];
    let room = share - sizeOf([...opening, ...closing]) - 100;
    const rows: string[] = [];
    for (const make of made) {
      const row = make();
      room -= Buffer.byteLength(row) + 1;
      if (room < 0) break;
      rows.push(row);
    }
    const hidden = made.length - rows.length;
    this.#cutChanges += hidden;
    if (rows.length === 0) return [];
    const more = hidden + omitted === 0 ? [] : ["", `${hidden + omitted} more are not shown here.`];
    return [...opening, ...rows, ...more, ...closing];
  }

  end(): string {
    const parts = [
      ...(this.#cutRows > 0 ? [`${this.#cutRows} lines of the tables`] : []),
      ...(this.#cutChanges > 0 ? [`${this.#cutChanges} changes`] : []),
    ];
    const cut = `Cut here: ${parts.join(" and ")}. All that is listed is in \`microapps report --format json\`; the counts above are of all.`;
    return `${[...this.#lines, ...(parts.length > 0 ? ["", cut] : [])].join("\n")}\n`;
  }
}

/** The report as JSON; what a terminal would obey is escaped, which means the same. */
export const json = (set: ChangeSet): string => `${printableJson(changeSet.parse(set), 2)}\n`;

/** JSON Schema of a report. */
export const reportSchema = (): object => ({
  title: "Report of pulumi-microapps",
  ...z.toJSONSchema(changeSet, { io: "output" }),
});

const renderers = { md: markdown, json, text: terminal };

/** How a report may be written. */
export type Format = keyof typeof renderers;

/** The report in a format; the same report makes the same text. */
export const render = (set: ChangeSet, format: Format): string => renderers[format](set);

/**
 * Counts of a report for later jobs of a pipeline, as files of job outputs and of variables take them: a line a name.
 * Each thing, person and row counts once for each environment; a thing whose rows or people alone change does not.
 */
export function outputs({ environments }: ChangeSet): string {
  const counts = { added: 0, changed: 0, removed: 0, stops: 0 };
  for (const environment of environments) {
    const { things, people, rows } = totals(environment.change);
    counts.added += things.add + people.add + rows.add;
    counts.changed += environment.change.things.filter(isSetAnew).length + people.change + rows.change;
    counts.removed += things.remove + people.remove + rows.remove;
    counts.stops += stops(environment).length;
  }
  const plans = environments.flatMap(({ name, plan }) => (plan === undefined ? [] : [[planName(name), plan] as const]));
  return [...Object.entries(counts), ...plans].map(([name, value]) => `${name}=${value}\n`).join("");
}

/** The name under which later jobs get the digest of an environment's plan: `plan_eu_west`. */
export const planName = (environment: string): string => `plan_${environment.replaceAll(/\W/g, "_")}`;

const isSetAnew = ({ op, changes }: Thing): boolean =>
  op === "replace" || (op === "change" && changes.some(({ kind }) => kind === "setting"));
