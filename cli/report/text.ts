import { createRequire } from "node:module";
import type unhomoglyph from "unhomoglyph";
import { formatCount } from "../../platform/messages/text.ts";
import {
  byWeight,
  type Change,
  type EnvironmentChanges,
  isComplete,
  noTally,
  orderThings,
  type Section,
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
export const valueText = (value: unknown): string =>
  value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);

/** Two values as people read them: never alike where they differ, and an empty text is seen. */
export function valueTexts(before: unknown, after: unknown): [before: string, after: string] {
  const isAlike = valueText(before) === valueText(after) && before !== undefined && after !== undefined;
  const text = (value: unknown): string =>
    value === "" || (isAlike && typeof value === "string") ? JSON.stringify(value) : valueText(value);
  return [text(before), text(after)];
}

/** Cuts two texts to this length such that the part in which they first differ is seen. */
export function cutBoth(before: string, after: string, maxLength: number): [before: string, after: string] {
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

/** Names as a sentence has them: `dev, staging and prod`. */
export const inWords = (names: readonly string[]): string =>
  names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1) ?? ""}`;

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
export const toSigned = (counts: Counts): string =>
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
export function totals({ things }: Section): { things: Counts & { replace: number }; people: Tally; rows: Tally } {
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

const scripts = [
  ...["Latin", "Cyrillic", "Greek", "Armenian", "Cherokee", "Coptic", "Georgian", "Hebrew", "Arabic", "Devanagari"],
  ...["Thai", "Hangul", "Hiragana", "Katakana", "Han", "Bopomofo", "Lisu", "Deseret", "Canadian_Aboriginal", "Runic"],
].map((name) => ({ name, pattern: new RegExp(`\\p{Script=${name}}`, "u") }));

/** Scripts that people write in one word. */
const together = [
  ["Han", "Hiragana", "Katakana"],
  ["Han", "Hangul"],
  ["Han", "Bopomofo"],
];

let looks: typeof unhomoglyph | undefined;

/** By Unicode's table of confusables (UTS #39), which is loaded when the first letter of another script comes. */
const looksOf = (letter: string): string =>
  (looks ??= createRequire(import.meta.url)("unhomoglyph") as typeof unhomoglyph)(letter);

const looksLatin = /^[\x21-\x7e]+$/;

/**
 * True for a text that may be taken for another: a word mixes scripts that nobody mixes, or every letter that is not
 * Latin looks Latin. A text with other letters of such a script is unmistakable.
 */
export function isConfusable(text: string): boolean {
  const composed = text.normalize("NFC");
  if (/^[\x20-\x7e]*$/.test(composed)) return false;
  if (composed.split(/[^\p{L}\p{M}]+/u).some(mixesScripts)) return true;
  const foreign = Array.from(composed).filter((letter) =>
    /(?!\p{Script=Latin})\p{L}|[\uff21-\uff5a\u{1d400}-\u{1d7ff}]/u.test(letter),
  );
  return (
    foreign.length > 0 &&
    foreign.every((letter) => looksLatin.test(looksOf(letter)) || looksLatin.test(letter.normalize("NFKC")))
  );
}

function mixesScripts(word: string): boolean {
  const found = scripts.filter(({ pattern }) => pattern.test(word)).map(({ name }) => name);
  return found.length > 1 && !together.some((group) => found.every((name) => group.includes(name)));
}

// Environments that change alike are shown once.

/** A value with the environments that have it, and the places where it stands. */
export interface Shared<Value> {
  value: Value;
  environments: string[];
  places: string[];
}

/** One thing as all environments have it: equal changes once, with the environments that they are in. */
export interface MergedThing {
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
export function mergeThings(
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
export const saysMore =
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

/** Things of the change that are not pending, where all that is pending is known: they are so already. */
export function findDone({ change, pending }: EnvironmentChanges): Thing[] {
  if (!isComplete(pending)) return [];
  const left = new Set(pending?.things.map(nameKey));
  return change.things.filter((thing) => !left.has(nameKey(thing)));
}

const nameKey = ({ kind, name }: Thing): string => JSON.stringify([kind, name]);

/** The reason why a section is incomplete; undefined for a complete one. */
export const openPart = (section: Section | undefined): string | undefined =>
  section?.why === undefined ? undefined : `${section.compared ? "incomplete" : "not compared"}: ${section.why}`;
