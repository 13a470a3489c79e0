import { masked } from "../../platform/messages/masks.ts";
import { type Entry, type Mapping, type Scalar, toPlainValue, type Value } from "../layers/document.ts";
import { rowVerbs } from "../layers/merge.ts";
import { leavesOf } from "../seedRows/source/source.ts";

const lists = ["rows", ...rowVerbs];

/** Replaces the secret values of a file's seeds by `form`. */
function withSecretRows(root: Value, form: (value: Value) => Value): Value {
  if (root.kind !== "map") return root;
  const sensitive = new Set<string>();
  const inSeeds = changed(root, "seeds", (seeds) =>
    each(seeds, (seed, name) => {
      if (seed.kind !== "map") return seed;
      const isSensitive = ![undefined, null, false].includes(valueOf(seed, "sensitive") as undefined);
      if (isSensitive) sensitive.add(name);
      const labels = new Set([valueOf(seed, "secretLabels")].flat().map(String));
      return lists.reduce<Mapping>(
        (all, list) =>
          changed(all, list, (rows) =>
            isSensitive
              ? form(rows)
              : each(rows, (row) => each(row, (cell, label) => (labels.has(label) ? form(cell) : cell))),
          ),
        seed,
      );
    }),
  );
  return inSeeds;
}

/** The file without secret cells of its rows; shows a value from the configuration by its key. */
export const withoutSecretRows = (root: Value): Value =>
  withSecretRows(root, (value) => {
    const isKey = value.kind === "map" && value.entries.size === 1 && value.entries.has("config");
    return isKey ? value : ({ kind: "scalar", at: value.at, value: masked } satisfies Scalar);
  });

/** The texts of rows that no message may show. */
export function secretTextsOf(root: Value): string[] {
  const texts: string[] = [];
  withSecretRows(root, (value) => {
    texts.push(...leavesOf(toPlainValue(value)));
    return value;
  });
  return texts;
}

const valueOf = ({ entries }: Mapping, name: string): unknown => {
  const entry = entries.get(name);
  return entry && toPlainValue(entry.value);
};

function changed(map: Mapping, name: string, form: (value: Value) => Value): Mapping {
  const entry = map.entries.get(name);
  return entry ? { ...map, entries: new Map([...map.entries, [name, { ...entry, value: form(entry.value) }]]) } : map;
}

/** Each item of a list or map. */
function each(value: Value, form: (value: Value, name: string) => Value): Value {
  if (value.kind === "list") return { ...value, items: value.items.map((item, at) => form(item, String(at))) };
  if (value.kind !== "map") return value;
  const entries = [...value.entries].map(([name, entry]): [string, Entry] => [
    name,
    { ...entry, value: form(entry.value, name) },
  ]);
  return { ...value, entries: new Map(entries) };
}
