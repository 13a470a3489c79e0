import { statSync } from "node:fs";
import { dirname, isAbsolute, resolve } from "node:path";
import { find, keyPlace, valuePlace, type Place } from "../layers/document.ts";
import { toShownPath } from "../layers/layers.ts";
import { explainMisnamed } from "../layers/writtenNumbers.ts";
import { findSettingProblems } from "../seedRows/declared/expectations/settingProblems.ts";
import { explainRefusedFormat } from "../seedRows/source/formats.ts";
import { keyNow, spot, teamNow } from "./formerKeys.ts";
import { checkKnown, namesIn, type FileChecks } from "./problems.ts";
import type { SeedDeclaration } from "./schema.ts";

type Seeds = Readonly<Record<string, SeedDeclaration>>;

/** The seeds that the rows of a seed refer to, each with the path of the mention below the seed. */
function mentions({ references = {}, parent, expect }: SeedDeclaration): { seed: string; path: string[] }[] {
  const all = [
    ...Object.entries(references).map(([label, rows]) => ({ rows, path: ["references", label] })),
    ...Object.entries(expect?.relationships ?? {}).map(([label, rows]) => ({
      ...{ rows, path: ["expect", "relationships", label] },
    })),
  ];
  const labels = all.flatMap(({ rows, path }) =>
    "seed" in rows ? [{ seed: rows.seed, path: [...path, "seed"] }] : [],
  );
  return parent && "seed" in parent ? [...labels, { seed: parent.seed, path: ["parent", "seed"] }] : labels;
}

/** The seed with its source relative to the program's folder. */
export function checkSeed(check: FileChecks, name: string, seed: SeedDeclaration, seeds: Seeds): SeedDeclaration {
  const { root, report, declared } = check;
  const path = ["seeds", name];
  for (const mention of mentions(seed)) {
    const at = valuePlace(root, [...path, ...mention.path]);
    checkKnown(report, "seed", mention.seed, namesIn(root, ["seeds"]), at, keyNow(mention.seed, seeds));
    const labels = seeds[mention.seed]?.key ?? [];
    if (labels.length > 1) {
      const message = `seed "${mention.seed}" has a key of ${labels.length} labels (${labels.join(", ")}); refer to rows that one label tells apart`;
      report({ at, message });
    }
  }
  // Links by a seed's name have what the check needs: their labels.
  const settings = { ...seed, fields: undefined } as Parameters<typeof findSettingProblems>[0];
  for (const { property, below, reason } of findSettingProblems(settings))
    report({ at: valuePlace(root, [...path, property, ...below]), message: reason });
  for (const [index, viewer] of (seed.teamViewers ?? []).entries()) {
    if (typeof viewer === "string") continue;
    const names = namesIn(root, ["organizations"]).flatMap((organization) =>
      namesIn(root, ["organizations", organization, "teams"]).map((team) => `${organization}/${team}`),
    );
    const at = valuePlace(root, [...path, "teamViewers", index, "team"]);
    checkKnown(report, "team", viewer.team, names, at, teamNow(viewer.team, declared.organizations));
  }
  if (seed.rows && seed.source !== undefined) {
    report({ at: keyPlace(root, [...path, "source"]), message: "rows and source are both given; remove one of them" });
  } else if (!seed.rows && seed.source === undefined) {
    report({ at: keyPlace(root, path), message: `seed "${name}" has neither rows nor source; add one of them` });
  }
  if (seed.rows) {
    checkKeys(check, [...path, "rows"], seed.key, seed.rows);
    for (const [index, row] of seed.rows.entries()) checkWritten(check, [...path, "rows", index], Object.keys(row));
  }
  checkRowEdits(check, path, seed);
  return {
    ...seed,
    ...(seed.source === undefined ? {} : { source: checkSource(check, [...path, "source"], seed.source) }),
  };
}

/** The path of a source from the program's folder; reports what is wrong with it. */
export function checkSource(check: FileChecks, path: readonly string[], source: string): string {
  const { name, isFile } = checkFile(check, path, source);
  const refusal = isFile ? explainRefusedFormat(name) : undefined;
  if (refusal !== undefined) check.report({ at: valuePlace(check.root, path), message: `${name} ${refusal}` });
  return name;
}

/** The path of a file from the program's folder; reports where it is none. */
function checkFile(
  { root, folder, report }: FileChecks,
  path: readonly string[],
  value: string,
): { name: string; isFile: boolean } {
  const at = valuePlace(root, path);
  const property = path.at(-1) ?? "";
  if (isAbsolute(value)) {
    report({ at, message: `${property} "${value}" is an absolute path; name it relative to ${at.file}` });
    return { name: value, isFile: false };
  }
  const file = resolve(folder, dirname(at.file), value);
  const name = toShownPath(file, folder);
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found) report({ at, message: `there is no file ${name}; correct ${property}` });
  else if (!found.isFile()) report({ at, message: `${name} is no file; name the file with the rows` });
  return { name, isFile: found?.isFile() ?? false };
}

type Rows = NonNullable<SeedDeclaration["rows"]>;

function checkKeys({ root, report }: FileChecks, path: readonly string[], labels: readonly string[], rows: Rows): void {
  const seen = new Map<string, number>();
  for (const [index, row] of rows.entries()) {
    const here = [...path, index];
    const missing = labels.filter((label) => row[label] === undefined || row[label] === null || row[label] === "");
    if (missing.length > 0) {
      const message = `the row lacks ${missing.join(" and ")}, its natural key; add it`;
      report({ at: valuePlace(root, here), message });
      continue;
    }
    const key = JSON.stringify(labels.map((label) => row[label]));
    const twin = seen.get(key);
    if (twin === undefined) seen.set(key, index);
    else {
      const at = valuePlace(root, [...here, labels[0] ?? ""]);
      const labelled = labels.map((label) => `${label} ${JSON.stringify(row[label])}`).join(", ");
      const there = spot(valuePlace(root, [...path, twin, labels[0] ?? ""]), at);
      report({ at, message: `the row ${there} has the same natural key (${labelled}); change or remove one` });
    }
  }
}

/** Checks the verbs for rows, as far as that does not depend on the source. */
function checkRowEdits(check: FileChecks, path: readonly string[], seed: SeedDeclaration): void {
  for (const verb of ["rows+", "rows~"] as const) {
    if (!seed[verb]) continue;
    checkKeys(check, [...path, verb], seed.key, seed[verb]);
    for (const [index, row] of seed[verb].entries()) checkWritten(check, [...path, verb, index], Object.keys(row));
  }
  for (const [index, removal] of (seed["rows-"] ?? []).entries()) {
    const here = [...path, "rows-", index];
    const values = [removal].flat();
    if (values.length !== seed.key.length) {
      const message = `a row is named by ${seed.key.join(" and ")}, not by ${values.length} values; correct it`;
      check.report({ at: valuePlace(check.root, here), message });
    }
    checkWritten(
      check,
      Array.isArray(removal) ? here : [...path, "rows-"],
      Array.isArray(removal) ? values.keys() : [index],
    );
  }
}

/** Cells of rows that are read as other numbers than stand there. */
function checkWritten({ root, report }: FileChecks, row: readonly PropertyKey[], labels: Iterable<PropertyKey>): void {
  for (const label of labels) {
    const value = find(root, [...row, label])?.value;
    const reason = value?.kind === "scalar" ? explainMisnamed(value.written, value.value) : undefined;
    const which = typeof label === "string" ? label : String(row.findLast((step) => typeof step === "string"));
    if (value && reason !== undefined) report({ at: value.at, message: `${which}: ${reason}` });
  }
}

/** The seeds that add the rows which a seed only updates, but for those that refer to it in turn. */
function listAdding(name: string, seeds: Seeds): string[] {
  const { mode, table } = seeds[name] ?? {};
  if (mode !== "updateOnly") return [];
  const leadsHere = (from: string, seen: ReadonlySet<string>): boolean =>
    from === name ||
    (!seen.has(from) &&
      (seeds[from] ? mentions(seeds[from]) : []).some(({ seed }) => leadsHere(seed, new Set([...seen, from]))));
  const adds = ([, one]: readonly [string, SeedDeclaration]): boolean => one.table === table && one.mode !== mode;
  return Object.entries(seeds).flatMap((entry) => (adds(entry) && !leadsHere(entry[0], new Set()) ? [entry[0]] : []));
}

/** The seeds such that each comes after those that its rows refer to, or that add the rows which it updates. */
export function seedOrder({ root, report }: FileChecks, seeds: Seeds): string[] {
  const done = new Set<string>();
  const visit = (name: string, chain: readonly string[], at: Place): void => {
    if (chain.includes(name)) {
      const circle = [...chain.slice(chain.indexOf(name)), name].join(" → ");
      report({
        at,
        message: `seeds refer to each other in a circle: ${circle}; leave one reference out, or refer to rows that are there already by {table, key}`,
      });
      return;
    }
    const seed = seeds[name];
    if (done.has(name) || !seed) return;
    for (const mention of mentions(seed)) {
      visit(mention.seed, [...chain, name], valuePlace(root, ["seeds", name, ...mention.path]));
    }
    for (const other of listAdding(name, seeds)) visit(other, [...chain, name], at);
    done.add(name);
  };
  for (const name of Object.keys(seeds)) visit(name, [], root.at);
  return [...done];
}
