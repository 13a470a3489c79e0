import { createHash } from "node:crypto";
import { nearest } from "../../machine/spelling.ts";
import { systemLabels, type RowData } from "../../platform/contract/values.ts";
import { isObject } from "../../platform/contract/wire.ts";
import { besideAlike, quote, some } from "../../platform/messages/text.ts";
import { addFile } from "../files/files.ts";
import {
  RowFields,
  RowMistakes,
  RowLabels,
  changedLabels,
  comparing,
  shown,
  CellRules,
  describeViolation,
} from "./cells.ts";
import {
  keyText,
  rowDigester,
  joinKey,
  digestOf,
  hexOf,
  type RowDigester,
  type Content,
  type Digest,
} from "./digests.ts";
import { type Seed, listReread } from "./inputs.ts";
import { Capacity } from "./locks.ts";
import { RowSet } from "./rowSet.ts";
import { read, SourceError, seeRows } from "./source/read.ts";
import { editAt, listLinkedLabels, placeOf, isHidden, type SourceRow } from "./source/source.ts";

/** The rows of a source by their digests, with all labels that they declare. */
export interface Summary {
  rows: RowSet;
  /** In alphabetical order; among them the column that names the parent row. */
  labels: string[];
  /** The labels of each row. */
  rowLabels: RowLabels;
  /** Digest of all rows: the same rows in the same order have the same one. */
  digest: string;
}

/**
 * Files that are read and digested at a time. More of them would end no sooner, and all at the end; so the rows of the
 * first ones are on their way while the others are read, and a small one passes one large one.
 */
const reading = new Capacity(2);

/**
 * Reads a source once and digests its rows. Throws one SourceError that names everything that is wrong, by line; the same
 * mistake of many rows at the first of them.
 */
export async function summarize(declaration: Seed, directory: string, checksLinks = true): Promise<Summary> {
  if (declaration.source === undefined) return summarized(declaration, directory, checksLinks);
  const leave = await reading.enter(1);
  try {
    return await summarized(declaration, directory, checksLinks);
  } finally {
    leave();
  }
}

async function summarized(declaration: Seed, directory: string, checksLinks: boolean): Promise<Summary> {
  const source = declaration.source ?? "rows";
  const rows = new RowSet();
  const all = new AllRows();
  const labels = new Set<string>();
  const rowLabels = new RowLabels();
  const mistakes = new RowMistakes((line, column) => placeOf(declaration, line, column));
  const expected = declaration.expect && new CellRules(declaration);
  const { key, sensitive, fields } = declaration;
  const digesterIn = digesterOf(declaration);
  const known = fields && new RowFields(fields, declaration);
  const keyIn = (values: RowData): string | undefined => (sensitive ? undefined : keyOf(key, values));
  const take = ({ line, values }: SourceRow): void => {
    for (const label of Object.keys(values)) {
      if (labels.has(label)) continue;
      labels.add(label);
      const text = systemLabels.has(label)
        ? `${quote(label)} is the platform's own and can't be written: rename or remove it`
        : known?.unknownLabel(label);
      if (text !== undefined) mistakes.add({ line, text });
    }
    for (const text of known?.misfits(values) ?? []) mistakes.add({ line, text, key: keyIn(values) });
    for (const label of declaration.source === undefined ? listEmptied(declaration, values) : [])
      mistakes.add({
        line,
        text: `${quote(label)} is an empty map: write text (a Date: toISOString()) or a number`,
        key: keyIn(values),
      });
    const digester = digesterIn(values);
    const digest = digester.key(values);
    if (digest === undefined) {
      const missing = key.filter((label) => keyText(values[label]) === undefined).join(" and no ");
      mistakes.add({ line, text: `the row has no ${missing}, which is its natural key: give it one` });
      return;
    }
    const content = digester.content(values);
    const before = rows.add(digest, content, line);
    if (before === undefined) {
      all.add(digest, content);
      rowLabels.add(withoutIgnored(declaration, values));
      // Others write an ignored label: what a table has there is judged on the platform.
      const counts = (label: string): boolean =>
        Object.hasOwn(values, label) && !declaration.ignoreLabels?.includes(label);
      for (const violation of expected?.violations(line, values, counts) ?? [])
        mistakes.add({ line, key: keyIn(values), ...describeViolation(declaration, violation) });
    } else {
      const first = rows.line(before);
      const where = declaration.source === undefined ? placeOf(declaration, first) : (editAt(first) ?? `line ${first}`);
      const which = sensitive ? "" : ` ${quote(keyOf(key, values))}`;
      const text = `the natural key${which} is at ${where} already: remove one of the two, or name more labels in key`;
      mistakes.add({ line, text });
    }
  };
  const whole: string[] = [];
  try {
    for await (const block of read(declaration, directory, (mistake) => mistakes.add(mistake))) block.forEach(take);
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    whole.push(error.message);
  }
  if (rows.length === 0 && mistakes.isEmpty && whole.length === 0) {
    whole.push(`${source}: has no rows; to remove the seed's rows, remove the seed itself`);
  }
  for (const label of checksLinks ? listLinkedLabels(declaration) : []) {
    if (rows.length > 0 && !labels.has(label))
      whole.push(`${source}: no row has the label ${quote(label)}, which is named as a reference or parent`);
  }
  if (rows.length > 0) whole.push(...strangeLabels(declaration, labels));
  // A table may have others beside them.
  const { max = Infinity } = declaration.expect?.rowCount ?? {};
  if (rows.length > max)
    whole.push(`${placeOf(declaration, 1)}: ${rows.length} rows begin here, and expect.rowCount takes at most ${max}`);
  const problems = [...mistakes.sentences(), ...whole];
  if (problems.length > 0) throw new SourceError(problems.join("\n"));
  return { rows, labels: listManaged(declaration, [...labels]).sort(), rowLabels, digest: all.text() };
}

/** Labels of cells that were no text and no number in the program: Pulumi hands over a Date or a bigint as an empty map. */
const listEmptied = ({ types = {} }: Seed, values: RowData): string[] =>
  Object.entries(values).flatMap(([label, value]) =>
    types[label] !== "json" && isObject(value) && Object.keys(value).length === 0 ? [label] : [],
  );

/** Secret labels that no row has, and that no field of the table is called: what was meant would be shown. */
function strangeLabels({ secretLabels = [], fields = {} }: Seed, labels: ReadonlySet<string>): string[] {
  return secretLabels.flatMap((label, at) => {
    if (labels.has(label) || Object.hasOwn(fields, label)) return [];
    const near = nearest(label, [...labels]);
    const meant = near === undefined ? `they have ${some([...labels].sort(), 20)}` : `did you mean ${quote(near)}?`;
    return `secretLabels[${at}]: no row has the label ${quote(label)}; ${meant}`;
  });
}

/** Digest of a source's file and of what decides how its rows are read; undefined for rows in the program. */
export async function fingerprintOf(declaration: Seed, directory: string): Promise<string | undefined> {
  if (declaration.source === undefined) return undefined;
  const digest = createHash("sha256").update(JSON.stringify(listReread(declaration)));
  return (await addFile(digest, directory, declaration.source)) ? digest.digest("hex").slice(0, 32) : undefined;
}

/** Digests of rows by their natural key and these labels, as a seed compares them. */
export const digesterFor = (
  declaration: Pick<Seed, "key" | "salt" | "forms" | "references" | "parent">,
  labels: readonly string[] = [],
): RowDigester => {
  const { key, salt, forms } = declaration;
  return rowDigester({ key, labels, references: listLinkedLabels(declaration), salt, forms });
};

/** The labels without those that others write. */
const listManaged = ({ ignoreLabels = [] }: Pick<Seed, "ignoreLabels">, labels: string[]): string[] =>
  ignoreLabels.length === 0 ? labels : labels.filter((label) => !ignoreLabels.includes(label));

/** A row without the labels that others write. */
export const withoutIgnored = (declaration: Pick<Seed, "ignoreLabels">, values: RowData): RowData =>
  (declaration.ignoreLabels ?? []).length === 0
    ? values
    : Object.fromEntries(listManaged(declaration, Object.keys(values)).map((label) => [label, values[label]]));

/** Digests of a row of the source, by the labels that it has itself: an absent label counts as one without a value. */
export function digesterOf(declaration: Seed): (values: RowData) => RowDigester {
  const digesters = new Map<string, RowDigester>();
  let last: { labels: string[]; digester: RowDigester } | undefined;
  return (values) => {
    const labels = listManaged(declaration, Object.keys(values));
    // Most rows have the labels of the row before them.
    if (last?.labels.length === labels.length && labels.every((label, at) => label === last?.labels[at])) {
      return last.digester;
    }
    const shape = JSON.stringify(labels);
    let digester = digesters.get(shape);
    if (!digester) digesters.set(shape, (digester = digesterFor(declaration, labels)));
    last = { labels, digester };
    return digester;
  };
}

/** The natural key of a row as one text, another one for each row: the parts of a key of several labels stand side by side. */
export function keyOf(key: readonly string[], values: RowData): string {
  return joinKey(key.map((label) => keyText(values[label]) ?? ""));
}

/** The natural keys of all rows, or of those that are chosen by their index. */
export async function keysOf(declaration: Seed, directory: string, chosen?: ReadonlySet<number>): Promise<string[]> {
  const keys: string[] = [];
  await seeRows(declaration, directory, ({ values }, index) => {
    if (!chosen || chosen.has(index)) keys.push(keyOf(declaration.key, values));
    return chosen !== undefined && keys.length >= chosen.size;
  });
  return keys;
}

/** Words that are hashed at a time. */
const atOnce = 6 * 1_024;

/** Digest of all rows in their order. */
class AllRows {
  readonly #hash = createHash("sha256");
  readonly #words = new Uint32Array(atOnce);
  #length = 0;

  add(key: Digest, { high, low, third, fourth }: Content): void {
    const words = this.#words;
    words[this.#length++] = key.high;
    words[this.#length++] = key.low;
    words[this.#length++] = high;
    words[this.#length++] = low;
    words[this.#length++] = third;
    words[this.#length++] = fourth;
    if (this.#length === atOnce) this.#take();
  }

  /** Ends it. */
  text(): string {
    this.#take();
    return this.#hash.digest("hex").slice(0, 32);
  }

  #take(): void {
    this.#hash.update(new Uint8Array(this.#words.buffer, 0, this.#length * 4));
    this.#length = 0;
  }
}

/** Keys of rows, with the declaration in whose digests they are: each seed has its own. */
export interface Keys {
  target: Seed;
  keys: RowSet;
}

/** The parts of a row's key. */
const partsOf = (declaration: Seed): string => {
  const linked = listLinkedLabels(declaration).filter((label) => declaration.key.includes(label));
  return JSON.stringify([declaration.key, linked.sort()]);
};

/** True when two declarations have the same key labels: then the digests of one also find rows of the other. */
export const sameKey = (one: Seed, other: Seed): boolean => partsOf(one) === partsOf(other);

/**
 * The rows of a source that have one of the keys, whichever seed's they are: index → whether they say the same. The source is
 * read, since the digests of one seed can't be compared with those of another.
 * @param found gets the keys
 */
export async function indicesWithin(
  all: readonly Keys[],
  declaration: Seed,
  directory: string,
  found = new RowSet(),
): Promise<ReadonlyMap<number, boolean>> {
  const indices = new Map<number, boolean>();
  for (const { target, keys } of all) {
    const digesterIn = digesterOf(target);
    const see = ({ values }: SourceRow, index: number): void => {
      const digester = digesterIn(values);
      const key = digester.key(values);
      const at = key && keys.find(key);
      if (key === undefined || at === undefined) return;
      indices.set(index, keys.hasContent(at, digester.content(values)));
      found.add(key);
    };
    if (keys.length > 0) await seeRows(declaration, directory, see);
  }
  return indices;
}

/** Those of the keys that rows of a source have. */
export async function keysWithin(keys: Keys, declaration: Seed, directory: string): Promise<RowSet> {
  const found = new RowSet();
  await indicesWithin([keys], declaration, directory, found);
  return found;
}

/** Bounds of what is shown and kept of rows. */
export const maxRows = 5;
const maxCells = 10;

/** Rows by their natural key, as one side of a comparison has them. */
export type RowsByKey = ReadonlyMap<string, RowData>;

/** Rows before and after a change. */
export interface BothSides {
  was: RowsByKey;
  is: RowsByKey;
}

/**
 * A row whose secret values are sealed: another text for another value, keyed with the salt of the seed, so that nobody
 * guesses the value by it.
 */
export function withoutSecrets(declaration: Seed, values: RowData): RowData {
  const { salt = "", secretLabels = [] } = declaration;
  if (secretLabels.length === 0) return values;
  const form = comparing(declaration);
  const sealed = (text: string | undefined) => (text === undefined ? undefined : hexOf(digestOf(`${salt}cell${text}`)));
  return Object.fromEntries(
    Object.entries(values).map(([label, value]) => [
      label,
      isHidden(declaration, label) ? sealed(form(label, value)) : value,
    ]),
  );
}

/** The rows with these keys, as a source has them, secret values sealed; none where it can't be read. */
export async function rowsByKey(declaration: Seed, directory: string, keys: readonly string[]): Promise<RowsByKey> {
  const wanted = new Set(keys);
  const found = new Map<string, RowData>();
  if (wanted.size === 0) return found;
  try {
    await seeRows(declaration, directory, ({ values }) => {
      const key = keyOf(declaration.key, values);
      if (wanted.has(key)) found.set(key, withoutSecrets(declaration, withoutIgnored(declaration, values)));
      return found.size === wanted.size;
    });
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
  }
  return found;
}

/** The cells that differ between two rows, `Name "Austira" => "Austria"`, `Token changed`. Keys of other rows are compared as keys are. */
function changedCellTexts(declaration: Seed, was: RowData, is: RowData): string[] {
  return changedLabels(declaration, was, is).map((label) => {
    const [before, after] = [was, is].map((row) => shown(row[label]));
    return isHidden(declaration, label) || before === after
      ? `${label} changed`
      : `${label} ${before} => ${after}${besideAlike(was[label], is[label])}`;
  });
}

/** True if both sides have these rows alike, as after a refresh, whose rows are those that it found. */
export const areAlike = (declaration: Seed, count: number, { was, is }: BothSides): boolean =>
  is.size === count &&
  [...is].every(([key, after]) => {
    const before = was.get(key);
    return before && changedLabels(declaration, before, after).length === 0;
  });

/**
 * Rows by their keys, with the first cells that differ where both sides are known: `"AT": Name "Austira" => "Austria"; "PT"`.
 * @param count how many rows there are, named or not
 */
export function describeRows(
  declaration: Seed,
  keys: readonly string[],
  count: number,
  { was, is }: BothSides = { was: new Map(), is: new Map() },
): string {
  let left = maxCells;
  const rows = keys.slice(0, maxRows).map((key) => {
    const [before, after] = [was.get(key), is.get(key)];
    const cells = before && after ? changedCellTexts(declaration, before, after) : [];
    const first = cells.slice(0, left);
    left -= first.length;
    const more = cells.length > first.length ? ", …" : "";
    return first.length === 0 ? quote(key) : `${quote(key)}: ${first.join(", ")}${more}`;
  });
  const hasCells = left < maxCells;
  return rows.length === 0 ? "" : rows.join(hasCells ? "; " : ", ") + (count > rows.length ? ", …" : "");
}
