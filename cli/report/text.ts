import looksOf from "unhomoglyph"; // Unicode's table of confusables (UTS #39)
import { formatCount } from "../../platform/messages/text.ts";
import {
  type Change,
  type EnvironmentChanges,
  orderThings,
  type Section,
  type Tally,
  type Thing,
} from "./changeSet.ts";

// Controls, bidirectional marks, what is not seen and what looks like a line break: none of them stands anywhere raw.
const unseen = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]/gu;

/** A text of others as one line in which everything is seen: what is not stands there as its code. */
export const toVisible = (text: string): string =>
  text.replace(unseen, (char) => {
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

function tallied({ remove, change, add }: Tally, what: string): string[] {
  return [
    ...(remove > 0 ? [`${formatCount(remove, what)} removed`] : []),
    ...(change > 0 ? [`${formatCount(change, what)} changed`] : []),
    ...(add > 0 ? [`${formatCount(add, what)} added`] : []),
  ];
}

/** Summary of a thing's changes, in words of ours alone: `2 rows removed, 1 setting changed`. */
export function summary({ op, people, rows, changes }: Thing): string {
  // Whatever comes or goes as a whole has all its settings.
  const isWhole = op === "add" || op === "remove";
  const settings = isWhole ? 0 : changes.filter(({ kind }) => kind === "setting").length;
  const parts = [
    ...(people ? tallied(people, "person") : []),
    ...(rows ? tallied(rows, "row") : []),
    ...(settings > 0 ? [formatCount(settings, "setting")] : []),
  ];
  return parts.join(", ");
}

export const verbs: Record<Thing["op"] | Change["op"], string> = {
  remove: "removed",
  replace: "replaced",
  change: "changed",
  add: "added",
};
export const signs: Record<Thing["op"] | Change["op"], string> = { remove: "−", replace: "±", change: "~", add: "+" };

interface Totals {
  things: Record<Thing["op"], number>;
  people: Tally;
  rows: Tally;
}

/** Exact counts of a section. */
export function totals({ things }: Section): Totals {
  const sum = (tallies: readonly (Tally | undefined)[]): Tally => {
    const all = { add: 0, change: 0, remove: 0, same: 0 };
    for (const tally of tallies) {
      if (!tally) continue;
      for (const name of ["add", "change", "remove", "same"] as const) all[name] += tally[name];
    }
    return all;
  };
  const count = (op: Thing["op"]): number => things.filter((thing) => thing.op === op).length;
  return {
    things: { remove: count("remove"), replace: count("replace"), change: count("change"), add: count("add") },
    people: sum(things.map(({ people }) => people)),
    rows: sum(things.map(({ rows }) => rows)),
  };
}

/** Counts of three kinds, removals first: `−2 ~1 +4`, or nothing. */
export function toSigned({ remove, change, add }: Pick<Tally, "remove" | "change" | "add">): string {
  const parts = [
    ...(remove > 0 ? [`−${remove}`] : []),
    ...(change > 0 ? [`~${change}`] : []),
    ...(add > 0 ? [`+${add}`] : []),
  ];
  return parts.join(" ");
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
  keyOf: (value: Value) => string = (value) => JSON.stringify(value),
): Shared<Value>[] {
  const all = new Map<string, Shared<Value>>();
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

/** Things of several environments as one list: removals first, and things that differ beside each other. */
export function mergeThings(
  environments: readonly EnvironmentChanges[],
  thingsOf: (environment: EnvironmentChanges) => readonly Thing[],
): MergedThing[] {
  const all = environments.flatMap((environment) =>
    thingsOf(environment).map((thing) => ({ environment: environment.name, thing })),
  );
  const groups = Map.groupBy(all, ({ thing: { kind, name } }) => JSON.stringify([kind, name]));
  const merged = [...groups.values()].map((entries) => mergedThing(entries));
  const byHead = new Map(
    merged.flatMap((each) =>
      orderThings(each.heads.map(({ value }) => value))
        .slice(0, 1)
        .map((head) => [head, each]),
    ),
  );
  return orderThings([...byHead.keys()]).flatMap((head) => byHead.get(head) ?? []);
}

function mergedThing(entries: readonly { environment: string; thing: Thing }[]): MergedThing {
  const heads = entries.map(({ environment, thing }) => ({ environment, value: thing, place: thing.place }));
  const changes = entries.flatMap(({ environment, thing }) =>
    thing.changes.map((value) => ({ environment, value, place: value.place })),
  );
  const [first] = entries;
  if (!first) throw new Error("a group has an entry");
  return {
    kind: first.thing.kind,
    name: first.thing.name,
    environments: entries.map(({ environment }) => environment),
    heads: group(heads, headKey),
    // One environment has nothing to compare with: its changes need no key.
    changes: entries.length === 1 ? changes.map(alone) : group(changes, changeKey),
    omitted: Math.max(...entries.map(({ thing }) => thing.omitted)),
  };
}

const alone = ({
  environment,
  value,
  place,
}: {
  environment: string;
  value: Change;
  place: string | undefined;
}): Shared<Change> => ({
  value,
  environments: [environment],
  places: place === undefined ? [] : [fileAndLine(place)],
});

const moved = (tally: Tally | undefined): number[] | undefined => tally && [tally.remove, tally.change, tally.add];

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
  const isOpen = pending?.why !== undefined;
  return (pending?.things ?? []).filter((thing) => {
    const own = known.get(nameKey(thing));
    return own?.op !== thing.op || !isCovered(thing, own, isOpen);
  });
}

function isCovered(thing: Thing, by: Thing, isOpen: boolean): boolean {
  const [counts, known] = [countsOf(thing), countsOf(by)];
  return counts.every((count, at) => count === known[at] || (isOpen && count < (known[at] ?? 0)));
}

const countsOf = ({ people, rows }: Thing): number[] => [
  ...(moved(people) ?? [0, 0, 0]),
  ...(moved(rows) ?? [0, 0, 0]),
];

/** Things of the change that are not pending, where all that is pending is known: they are so already. */
export function findDone({ change, pending }: EnvironmentChanges): Thing[] {
  if (!pending?.compared || pending.why !== undefined) return [];
  const left = new Set(pending.things.map(nameKey));
  return change.things.filter((thing) => !left.has(nameKey(thing)));
}

const nameKey = ({ kind, name }: Thing): string => JSON.stringify([kind, name]);
/** The reason why a section is incomplete; undefined for a complete one. */
export const openPart = (section: Section | undefined): string | undefined =>
  section?.why === undefined ? undefined : `${section.compared ? "not whole" : "not compared"}: ${section.why}`;
