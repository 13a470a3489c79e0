import { seed as contents, type Seed } from "../../../emulator/seed/schema.ts";
import { entryIn } from "../../../platform/contract/wire.ts";
import { find, toPlainValue, valuePlace, type Problem, type Value } from "../../layers/document.ts";
import type { Declaration } from "../declaration.ts";
import { suggestion } from "../problems.ts";

type Table = Seed["tables"][string];

/** A link of a seed: its label, its target, and its place in the file. */
interface Link {
  label: string;
  table: string;
  key: string;
  path: readonly string[];
}

/**
 * Contradictions between seeds and `platform` of the same file: missing or different tables and links. A file that
 * describes no tables there is not checked.
 */
export function platformProblems(root: Value, declared: Declaration): Problem[] {
  const value = find(root, ["platform"])?.value;
  const platform = value && contents.safeParse(toPlainValue(value)).data;
  const tables = new Map(Object.entries(platform?.tables ?? {}).map(([key, table]) => [table.id ?? key, table]));
  if (!platform || tables.size === 0) return [];
  const idOf = (key: string): string => entryIn(platform.tables, key)?.id ?? key;
  return Object.entries(declared.seeds).flatMap(([name, seed]) => {
    const problems: Problem[] = [];
    const at = (path: readonly string[], message: string): number =>
      problems.push({ at: valuePlace(root, ["seeds", name, ...path]), message });
    const missing = (table: string): string =>
      `platform has no table "${table}"; ${suggestion(table, [...tables.keys()])}`;
    const own = tables.get(seed.table);
    if (!own) at(["table"], missing(seed.table));
    for (const link of linksOf(declared, name)) {
      const target = tables.get(link.table);
      // The other seed reports a problem of its own table.
      if (!target && link.path.at(-1) !== "seed") at(link.path, missing(link.table));
      else if (target) for (const message of keyProblems(link, target)) at(link.path, message);
      if (!own || link.path[0] !== "references") continue;
      const wrong = fieldProblem(link, own, seed.table, target && idOf);
      if (wrong !== undefined) at(link.path.slice(0, 2), wrong);
    }
    const parent = own?.parent === undefined ? undefined : idOf(own.parent);
    const named = linksOf(declared, name).find(({ path }) => path[0] === "parent")?.table;
    if (own && named !== undefined && named !== parent) {
      const is = parent === undefined ? "no sub-table" : `a sub-table of "${parent}"`;
      at(["parent"], `table "${seed.table}" is ${is} under platform; correct parent, or platform`);
    }
    return problems;
  });
}

function linksOf({ seeds }: Declaration, name: string): Link[] {
  const { references = {}, parent, expect } = entryIn(seeds, name) ?? {};
  const all = [
    ...Object.entries(references).map(([label, to]) => ({ label, to, path: ["references", label] })),
    ...Object.entries(expect?.relationships ?? {}).map(([label, to]) => ({
      ...{ label, to, path: ["expect", "relationships", label] },
    })),
    ...(parent ? [{ label: parent.by, to: parent, path: ["parent"] }] : []),
  ];
  return all.flatMap(({ label, to, path }) => {
    if (!("seed" in to)) return [{ label, table: to.table, key: to.key, path: [...path, "table"] }];
    const target = entryIn(seeds, to.seed);
    return target ? [{ label, table: target.table, key: target.key[0] ?? "", path: [...path, "seed"] }] : [];
  });
}

function keyProblems({ key, table }: Link, { fields }: Table): string[] {
  const labels = Object.keys(fields);
  if (labels.length === 0 || labels.includes(key)) return [];
  return [`table "${table}" has no field "${key}" under platform; ${suggestion(key, labels)}`];
}

/**
 * The reason why a label can't be the seed's link, if the table has fields.
 * @param idOf undefined where the linked table is missing, which is a problem by itself
 */
function fieldProblem(
  { label, table }: Link,
  { fields }: Table,
  own: string,
  idOf: ((key: string) => string) | undefined,
): string | undefined {
  const labels = Object.keys(fields);
  if (labels.length === 0) return undefined;
  const field = entryIn(fields, label);
  if (!field) return `table "${own}" has no field "${label}" under platform; ${suggestion(label, labels)}`;
  if (field.table === undefined)
    return `"${label}" of table "${own}" is a ${field.type} field under platform, no link; correct one of the two`;
  const leads = idOf?.(field.table);
  if (leads === undefined || leads === table) return undefined;
  return `"${label}" of table "${own}" links to table "${leads}" under platform, not to "${table}"; correct one of the two`;
}
