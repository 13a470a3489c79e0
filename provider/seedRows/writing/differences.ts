import { nearest } from "../../../machine/spelling.ts";
import type { RowData } from "../../../platform/contract/values.ts";
import { quote, some } from "../../../platform/messages/text.ts";
import { canonical } from "../../reconcile/digests.ts";
import { RowIndices } from "../../reconcile/rowIndices.ts";
import { keyOf, withoutIgnored } from "../declared/declaration.ts";
import { comparing, shown, typeThatEquals } from "../declared/forms.ts";
import { RowMistakes } from "../declared/mistakes.ts";
import type { RowTarget } from "../declared/target.ts";
import type { Clearing } from "../kept/clearing.ts";
import type { NumberedKeys } from "../live/numberedKeys.ts";
import { read } from "../source/read.ts";
import { isHidden, placeOf } from "../source/source.ts";
import { keptOtherwise, type Strays } from "./strays.ts";

/** Rows that a message names. */
const maxNamed = 20;

/** Live content that differs from the written rows, by the index of the wanted row. */
export interface SeenDifference {
  /** Rows that came back otherwise. */
  differing: ReadonlyMap<number, RowData>;
  /** Rows that were not seen. */
  missing: RowIndices;
  numbered?: NumberedKeys;
  strays?: Strays;
  /** Labels that the table was seen to have. */
  labels: ReadonlySet<string>;
  /** Labels that were set to nothing. */
  clear?: Clearing | undefined;
}

/** How rows differ from what was written. */
export interface Differences {
  /** With row, label, what was sent and what was found, and what to do. */
  sentences: string[];
  /** True if the table lacks a label. */
  isLabelLost: boolean;
  /** Rows that are not there. */
  missing: RowIndices;
}

/** Compares rows with what was written of them; reads the source up to the last of them. */
export async function differencesOf(
  { directory }: { directory: string },
  target: RowTarget,
  { differing, missing: unseen, numbered, strays, labels, clear }: SeenDifference,
): Promise<Differences> {
  const cells = new RowMistakes((line) => placeOf(target, line));
  const missing = RowIndices.of(unseen);
  const named: string[] = [];
  let misnamed = 0;
  let isLabelLost = false;
  let left = differing.size + unseen.size;
  let index = -1;
  for await (const block of left === 0 ? [] : read(target, directory)) {
    for (const { line, values: all } of block) {
      const values = withoutIgnored(target, all);
      index++;
      if (!unseen.has(index) && !differing.has(index)) continue;
      left--;
      const found = differing.get(index) ?? numbered?.madeOf(values);
      const key = target.sensitive ? undefined : keyOf(target.key, values);
      if (found) {
        missing.delete(index);
        const nothing = (clear?.get(index) ?? []).map((label) => [label, null] as const);
        const sent: RowData = { ...values, ...Object.fromEntries<null>(nothing) };
        for (const { label, ...cell } of cellsThatDiffer(target, sent, found, labels)) {
          isLabelLost ||= cell.isLost;
          cells.add({ line, key, ...cell });
        }
        continue;
      }
      const kept = strays?.keyOf(values);
      if (kept !== undefined) {
        misnamed++;
        const text = key === undefined ? "the table keeps the key otherwise" : keptOtherwise(key, kept);
        cells.add({ line, key, text, about: text });
      } else if (named.length < maxNamed) {
        named.push(key === undefined ? placeOf(target, line) : `${placeOf(target, line)} ${quote(key)}`);
      }
    }
    if (left === 0) break;
  }
  const sentences = [...cells.sentences(), ...absence(target, missing.size - misnamed, named)];
  return { sentences, isLabelLost, missing };
}

/** Labels of a row that came back otherwise. */
function* cellsThatDiffer(
  target: RowTarget,
  sent: RowData,
  found: RowData,
  labels: ReadonlySet<string>,
): Generator<{ label: string; text: string; about: string; isLost: boolean }> {
  const form = comparing(target);
  for (const [label, value] of Object.entries(sent)) {
    if (form(label, value) === form(label, found[label])) continue;
    const isLost = canonical(found[label]) === undefined;
    const text = isLost
      ? lostLabel(target, label, { value, found, labels })
      : otherValue(target, label, value, found[label]);
    yield { label, text, about: `${label} ${isLost ? "lost" : "otherwise"}`, isLost };
  }
}

function lostLabel(
  { table, key, parent }: RowTarget,
  label: string,
  { value, found, labels }: { value: unknown; found: RowData; labels: ReadonlySet<string> },
): string {
  const isKey = key.includes(label);
  const meant = nearestLabel(label, [...Object.keys(found), ...labels]);
  const what = `table ${table} did not keep ${isKey ? `${quote(label)}, the natural key` : `the label ${quote(label)}`}`;
  if (meant !== undefined) return `${what}; it has ${quote(meant)}: write it so (labels are case sensitive)`;
  if (label === parent?.by) {
    return `table ${table} did not keep the parent that was sent for ${quote(label)}: this platform seems to take no parent of its own for each row of a batch, and no setting sends rows otherwise`;
  }
  if (value === false || value === 0) {
    // Such a field may be there, and keep nothing but what is true, or counts.
    return `table ${table} gave back nothing in ${quote(label)}, where ${value} was sent: leave ${label} out of the rows where it is ${value}, or add the field if the table lacks it`;
  }
  const otherwise = isKey ? "correct key" : "remove the label from the source";
  return `${what}: add the field to the table, or ${otherwise} (labels are case sensitive)`;
}

function nearestLabel(label: string, known: readonly string[]): string | undefined {
  const others = known.filter((one) => one !== label);
  return others.find((one) => one.toLowerCase() === label.toLowerCase()) ?? nearest(label, others);
}

function otherValue(target: RowTarget, label: string, sent: unknown, found: unknown): string {
  const { table } = target;
  if (canonical(sent) === undefined)
    return `table ${table} kept a value under ${quote(label)}, which was set to nothing: clear it by hand, or declare the label again`;
  const type = typeThatEquals(sent, found);
  const isTrimmed = typeof sent === "string" && sent.trim() === found;
  const otherwise = isTrimmed ? "write it without the space around it" : "write it as the table has it";
  const remedy =
    type === undefined
      ? `${otherwise}, or leave ${label} out of the rows`
      : `declare types: {${label}: ${type}}, and both are the same, or write it as the table has it`;
  if (isHidden(target, label)) return `table ${table} gave back another value in ${quote(label)}: ${remedy}`;
  return `table ${table} gave back ${shown(found)} in ${quote(label)}, where ${shown(sent)} was sent: ${remedy}`;
}

function absence({ table, sensitive }: RowTarget, count: number, named: readonly string[]): string[] {
  if (count === 0) return [];
  const which = sensitive
    ? ""
    : `: ${some(named, maxNamed)}${count > named.length ? ` and ${count - named.length} more` : ""}`;
  return [
    `${count} rows of table ${table} are not there after they were sent${which}. Run up again: it sends these rows and no others`,
  ];
}
