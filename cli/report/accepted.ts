import { type Document, isMap, isSeq, parseDocument } from "yaml";
import { z } from "zod";
import { describePlace, toPlainValue } from "../../provider/layers/document.ts";
import type { Section, Thing } from "./changeSet.ts";
import { checkedIn, DataRefusal, driftFile } from "./environments.ts";

/** Days for which drift may be accepted. */
const maxDays = 90;
const day = 24 * 60 * 60 * 1000;

const exact = z
  .string()
  .min(1)
  .refine((text) => !text.includes("*"), "must be exact: no pattern matches everything");
const entry = z.strictObject({
  environment: exact,
  thing: exact,
  name: exact.optional(),
  because: z.string().min(1),
  until: z.iso.date("must be a day such as 2030-01-31"),
});

/** Drift that a person accepted: of a thing, or of one person, row or setting of it. */
export interface Accepted extends z.output<typeof entry> {
  place: string;
}

/** Reads drift.yaml; a mistake in it ends with one error. */
export function parseAccepted(text: string, now: number): Accepted[] {
  const {
    data = [],
    problems,
    at: placeOf,
  } = checkedIn(text, driftFile, z.array(entry), (root) => toPlainValue(root) ?? []);
  const entries = data.map((each, index): Accepted => {
    const at = placeOf([index]);
    if (Date.parse(each.until) > now + maxDays * day)
      problems.push({ at, message: `until is more than ${maxDays} days away: name an earlier day` });
    return { ...each, place: describePlace(at) };
  });
  if (problems.length > 0) {
    throw new DataRefusal(problems.map(({ at, message }) => `${describePlace(at)}: ${message}`).join("\n"));
  }
  return entries;
}

const isOver = ({ until }: Accepted, now: number): boolean => Date.parse(until) + day <= now;

/** Finds what accepts a change of a thing of an environment, or its absence. */
export const tolerating =
  (environment: string, entries: readonly Accepted[], now: number) =>
  (thing: string, name: string | undefined): Accepted | undefined =>
    entries.find(
      (each) => each.environment === environment && each.thing === thing && each.name === name && !isOver(each, now),
    );

/** Marks accepted drift, and notes the entries that have expired or match nothing. */
export function accept(
  environment: string,
  section: Section,
  entries: readonly Accepted[],
  now: number,
): { section: Section; notes: string[] } {
  const used = new Set<Accepted>();
  const find = tolerating(environment, entries, now);
  const reasonFor = (thing: string, name: string | undefined): { accepted?: string } => {
    const found = find(thing, name);
    if (!found) return {};
    used.add(found);
    return { accepted: `${found.because} (until ${found.until})` };
  };
  const things = section.things.map((thing): Thing => ({
    ...thing,
    ...(thing.op === "remove" ? reasonFor(thing.name, undefined) : {}),
    changes: thing.changes.map((change) => ({ ...change, ...reasonFor(thing.name, change.name) })),
  }));
  const own = entries.filter((each) => each.environment === environment);
  const notes = own.flatMap((each) => {
    if (isOver(each, now))
      return [`${each.place}: accepted until ${each.until}, which is over: delete it, or renew it`];
    return used.has(each) ? [] : [`${each.place}: accepts what is not there any more: delete it`];
  });
  return { section: { ...section, things }, notes };
}

/** True if there is drift that nobody accepted. */
export const hasDrift = ({ things }: Section): boolean =>
  things.some(
    ({ op, accepted, changes, omitted }) =>
      (op === "remove" && accepted === undefined) ||
      omitted > 0 ||
      changes.some((change) => change.accepted === undefined),
  );

/** The text of drift.yaml with everything that is not accepted yet. */
export function withAccepted(
  text: string,
  found: readonly { environment: string; section: Section }[],
  because: string,
  until: string,
): string {
  const document: Document = parseDocument(text.trim() === "" ? "[]" : text);
  const { contents } = document;
  if (!isSeq(contents)) throw new Error(`${driftFile} must be a list`);
  contents.flow = false;
  for (const { environment, section } of found) {
    for (const { name: thing, op, accepted, changes } of section.things) {
      const names = changes.filter((change) => change.accepted === undefined).map(({ name }) => ({ name }));
      const own = op === "remove" && accepted === undefined && changes.length === 0 ? [{}] : names;
      for (const each of own) contents.add(document.createNode({ environment, thing, ...each, because, until }));
    }
  }
  for (const item of contents.items) if (isMap(item)) item.flow = false;
  return document.toString({ lineWidth: 0 });
}
