import { today } from "../../../machine/settings/today.ts";
import { entryIn } from "../../../platform/contract/wire.ts";
import { keyPlace, valuePlace, type Place, type Problem, type Value } from "../../layers/document.ts";
import { describePlace } from "../../layers/verbs.ts";
import { toPlannedUrn } from "../../resources/model/identities.ts";
import { RowClaims } from "../../seedRows/declared/claims.ts";
import { keyOf } from "../../seedRows/declared/declaration.ts";
import type { RowTarget } from "../../seedRows/declared/target.ts";
import { problemsWith } from "../../seedRows/owners.ts";
import { read, SourceError } from "../../seedRows/source/read.ts";
import { placeOf } from "../../seedRows/source/source.ts";
import { readEnvironment, type Declaration, type DeclarationReading } from "../declaration.ts";
import { checkPeople } from "./peopleChecks.ts";
import { platformProblems } from "./platformChecks.ts";

/** Verbs by the names that the inputs of a seed have. */
const verbs: Readonly<Record<string, string>> = {
  additions: "rows+",
  changes: "rows~",
  removals: "rows-",
  rows: "rows",
  secretLabels: "secretLabels",
};
const position = /\b(additions|changes|removals|rows|secretLabels)\[(\d+)\]/g;

/**
 * Checks the rows of an Environment file, offline: cells, natural keys, references down to the keys of the rows of
 * other seeds, rows that two seeds declare.
 */
export async function rowProblems(root: Value, declared: Declaration, folder: string): Promise<Problem[]> {
  const claims = new RowClaims(folder);
  const problems: Problem[] = [];
  for (const name of declared.seedOrder) {
    const target = targetOf(declared, name);
    const found = (text: string): number => problems.push(...problemsIn(root, name, text));
    try {
      const urn = urnOf(name);
      const summary = await claims.summary({ urn, name, target });
      claims.claim(urn, target, summary.digest);
      const linkedSeeds = linkedSeedsOf(declared, name);
      for (const text of await problemsWith(claims, { urn, target, digest: summary.digest, linkedSeeds }, folder)) {
        found(text);
      }
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      found(error.message);
    }
  }
  return problems;
}

/** A seed by the URN that a plan gives it: messages call it as the file does. */
const urnOf = (name: string): string => toPlannedUrn("SeedRows", name);

type Seed = Declaration["seeds"][string];

const seedOf = ({ seeds }: Declaration, name: string): Seed => {
  const seed = seeds[name];
  if (!seed) throw new Error(`"${name}" was checked and is not there`);
  return seed;
};

/** A seed as its resource will have it, without what only the platform knows. */
function targetOf(declared: Declaration, name: string): RowTarget {
  const seed = seedOf(declared, name);
  const { table, key, rows, source, types, sensitive, secretLabels, references, parent, expect, ...rest } = seed;
  type Rows = { seed: string } | { table: string; key: string };
  const lookup = (to: Rows): { table: string; key: string } =>
    "seed" in to ? { table: seedOf(declared, to.seed).table, key: seedOf(declared, to.seed).key[0] ?? "" } : to;
  const found = (all: Readonly<Record<string, Rows>> = {}) =>
    Object.entries(all).map(([label, to]) => [label, lookup(to)] as const);
  const [links, related] = [found(references), found(expect?.relationships)];
  return {
    ...{ table, key, rows, source, types, sensitive, secretLabels, fields: entryIn(declared.fields, table) },
    ...{ mode: rest.mode, additions: rest["rows+"], changes: rest["rows~"], removals: rest["rows-"] },
    ...(rest.ignoreLabels ? { ignoreLabels: rest.ignoreLabels } : {}),
    ...(expect ? { expect: { ...expect, relationships: expect.relationships && Object.fromEntries(related) } } : {}),
    references: references && Object.fromEntries(links),
    parent: parent && { ...lookup(parent), by: parent.by },
  };
}

function linkedSeedsOf(declared: Declaration, name: string): Record<string, string> {
  const { references = {}, parent, expect } = seedOf(declared, name);
  const links = Object.entries({ ...references, ...expect?.relationships }).flatMap(([label, to]) =>
    "seed" in to ? [[label, urnOf(to.seed)] as const] : [],
  );
  return Object.fromEntries(parent && "seed" in parent ? [...links, [parent.by, urnOf(parent.seed)]] : links);
}

const isPlaced = /^(?:(?!: ).)+?:\d|^(?:additions|changes|removals|rows|secretLabels)\[\d/;

/** Problems of a text, a line each. A line without a place behind one that has one explains it, and is a part of it. */
function problemsIn(root: Value, name: string, text: string): Problem[] {
  const lines: string[] = [];
  for (const line of text.split("\n")) {
    const last = lines.at(-1);
    if (last !== undefined && isPlaced.test(last) && !isPlaced.test(line)) lines.splice(-1, 1, `${last}. ${line}`);
    else lines.push(line);
  }
  return lines.map((line) => problemOf(root, name, line));
}

/** A sentence about rows at its place: a line of the source, or where the file has what is done to it. */
function problemOf(root: Value, name: string, line: string): Problem {
  const placeIn = (list: string, index: string): Place =>
    valuePlace(root, ["seeds", name, verbs[list] ?? list, Number(index)]);
  const text = line.replaceAll(position, (_, list: string, index: string) => describePlace(placeIn(list, index)));
  const [whole, file, at, column] = /^((?:(?!: ).)+?):(\d+)(?::(\d+))?(?=[: ])/.exec(text) ?? [];
  if (whole === undefined || file === undefined) return { at: keyPlace(root, ["seeds", name]), message: text };
  return {
    at: { file, line: Number(at), column: Number(column ?? 1) },
    message: text.slice(whole.length).replace(/^:? /, ""),
  };
}

const trimmed = (value: unknown): unknown =>
  typeof value === "string" ? value.trim() : typeof value === "number" ? String(value) : value;

/** Natural keys of a seed that differ by the spaces around them alone: two rows, where one was meant more likely. */
async function spacedKeys(root: Value, declared: Declaration, name: string, folder: string): Promise<Problem[]> {
  const target = targetOf(declared, name);
  if (target.sensitive || target.key.some((label) => target.secretLabels?.includes(label))) return [];
  const lines = new Map<string, { key: string; line: number }>();
  const found: Problem[] = [];
  for await (const block of read(target, folder)) {
    for (const { values, line } of block) {
      const key = keyOf(target.key, values);
      const bare = JSON.stringify(target.key.map((label) => trimmed(values[label])));
      const twin = lines.get(bare);
      if (!twin) lines.set(bare, { key, line });
      else if (twin.key !== key) {
        const text = `${placeOf(target, line)}: the key ${JSON.stringify(key)} differs from ${JSON.stringify(twin.key)} at ${placeOf(target, twin.line)} by spaces alone: two rows; if one is meant, delete the other`;
        found.push(problemOf(root, name, text));
      }
    }
  }
  return found;
}

/** Findings of a check; warnings stop nothing. */
interface Checked extends DeclarationReading {
  warnings: Problem[];
}

/** An Environment file with everything that is wrong about it, as far as that can be known without a platform. */
export async function checkEnvironment(file: string, folder: string): Promise<Checked> {
  const reading = readEnvironment(file, folder);
  const { root, declared, problems } = reading;
  // Rows of a part with problems would only repeat them.
  if (!root || !declared || problems.length > 0) return { ...reading, warnings: [] };
  const people = await checkPeople(root, declared, { directory: folder, day: today() });
  const found = [
    ...platformProblems(root, declared),
    ...people.problems,
    ...(await rowProblems(root, declared, folder)),
  ];
  const warnings = people.warnings;
  if (found.length === 0)
    for (const name of declared.seedOrder) warnings.push(...(await spacedKeys(root, declared, name, folder)));
  return { ...reading, problems: found, warnings };
}
