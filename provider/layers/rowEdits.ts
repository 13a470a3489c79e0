import { keyText } from "../reconcile/digests.ts";
import { toPlainValue, type Entry, type Place, type Problem, type Value } from "./document.ts";
import { describePlace } from "./verbs.ts";

/** Edits rows of a seed whose source another layer names. */
export interface RowEdit {
  do: "rows";
  at: Place;
  verb: string;
  value: Value;
}

/** Rows beside those of the source; fields of rows that it has; natural keys of rows that it has and the seed has not. */
export const rowVerbs: readonly string[] = ["rows+", "rows~", "rows-"];

/** Within one layer rows go first, then others change, then new ones come. */
const order = (verb: string): number => ["rows-", "rows~", "rows+"].indexOf(verb);

interface Item {
  value: Value;
  /** Its natural key as text; undefined when it has none, which the check reports. */
  key: string | undefined;
  /** The list that it stands in. */
  list: Value;
}

/**
 * Combines the row edits of all layers, as one layer would write them. An upper layer's removals and changes of rows
 * that a lower one added are settled here; the source is not known.
 * @param declared the seed's `key`
 */
export function combineRowEdits(
  edits: readonly RowEdit[],
  declared: unknown,
  report: (problem: Problem) => void,
): Map<string, Entry> {
  const labels = labelsOf(declared);
  const lists = new Map<string, { at: Place; items: Item[] }>();
  const listOf = (verb: string, at: Place): Item[] => {
    const list = lists.get(verb) ?? { at, items: [] };
    lists.set(verb, { ...list, at });
    return list.items;
  };
  const find = (verb: string, key: string | undefined): { items: Item[]; index: number; item: Item } | undefined => {
    const items = lists.get(verb)?.items ?? [];
    const index = key === undefined ? -1 : items.findIndex((item) => item.key === key);
    const item = items[index];
    return item && { items, index, item };
  };
  for (const { verb, at, value } of inOrder(edits)) {
    if (value.kind !== "list") {
      report({ at: value.at, message: `${verb} must be a list; put it in brackets` });
      continue;
    }
    const own = listOf(verb, at);
    for (const item of value.items)
      edit(verb, { value: item, key: keyIn(verb, item, labels), list: value }, own, find, report);
  }
  // A list that other layers have emptied has no effect.
  return new Map(
    [...lists].flatMap(([verb, { at, items }]): [string, Entry][] =>
      items.length === 0 ? [] : [[verb, { at, value: { kind: "list", at, items: items.map(({ value }) => value) } }]],
    ),
  );
}

function edit(
  verb: string,
  item: Item,
  own: Item[],
  find: (verb: string, key: string | undefined) => { items: Item[]; index: number; item: Item } | undefined,
  report: (problem: Problem) => void,
): void {
  const { value, key } = item;
  const twice = (what: string, { value: { at } }: Item): void =>
    report({
      at: value.at,
      message: `row ${key ?? ""} is ${what} at ${describePlace(at)} already; keep one of the two`,
    });
  const [added, changed, removed] = rowVerbs.map((each) => find(each, key));
  if (verb === "rows+") {
    if (added) twice("added", added.item);
    else if (changed) twice("changed, so it is there,", changed.item);
    else own.push(item);
  } else if (verb === "rows~") {
    const before = added ?? changed;
    if (removed && !added) twice("taken out", removed.item);
    else if (before?.item.list === item.list) twice("changed", before.item);
    else if (before) before.items[before.index] = { ...item, value: over(before.item.value, value) };
    else own.push(item);
  } else {
    if (removed && !added) twice("taken out", removed.item);
    else if (added) added.items.splice(added.index, 1);
    else {
      changed?.items.splice(changed.index, 1);
      own.push(item);
    }
  }
}

/** The fields of a row with those of another one over them. */
function over(below: Value, above: Value): Value {
  if (below.kind !== "map" || above.kind !== "map") return above;
  return { kind: "map", at: above.at, entries: new Map([...below.entries, ...above.entries]) };
}

/** Layer by layer, as they came: a layer ends where a verb comes again or the file changes. */
function inOrder(edits: readonly RowEdit[]): RowEdit[] {
  const layers: RowEdit[][] = [];
  for (const edit of edits) {
    const last = layers.at(-1);
    const isSame = last?.[0]?.at.file === edit.at.file && last.every(({ verb }) => verb !== edit.verb);
    if (isSame) last.push(edit);
    else layers.push([edit]);
  }
  return layers.flatMap((layer) => layer.toSorted((a, b) => order(a.verb) - order(b.verb)));
}

const labelsOf = (key: unknown): string[] =>
  (Array.isArray(key) ? key : [key]).filter((label) => typeof label === "string");

/** The natural key of a row, or what stands for one, as text. */
function keyIn(verb: string, value: Value, labels: readonly string[]): string | undefined {
  const text = toPlainValue(value);
  const parts =
    verb === "rows-"
      ? Array.isArray(text)
        ? (text as unknown[])
        : [text]
      : labels.map((label) => (text as Record<string, unknown> | null)?.[label]);
  const texts = parts.map((part) => keyText(part));
  if (texts.length === 0 || texts.length !== labels.length || texts.includes(undefined)) return undefined;
  return texts.length === 1 ? texts[0] : JSON.stringify(texts);
}
