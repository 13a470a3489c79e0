import { formatCount } from "../../../provider/messages/text.ts";
import type { Change, Section, Tally, Thing } from "../model/changeSet.ts";

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
export const fileAndLine = (place: string): string => place.replace(/^(.*:\d+):\d+$/s, "$1");

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

export interface Totals {
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
