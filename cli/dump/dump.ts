import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { messageOf } from "../../machine/failures.ts";
import type { RowData } from "../../provider/contract/values.ts";
import { toSlashes } from "../../provider/files/repository.ts";
import type { ResourceContext } from "../../provider/resources/resource.ts";
import { DumpError } from "./dumpError.ts";
import { DumpMask, refuseOpenLinks, type MaskRequest } from "./dumpMask.ts";
import { environmentText } from "./environmentFile.ts";
import { existingPeople, existingSeed, type Existing } from "./existing.ts";
import { importText, type ImportTarget } from "./importFile.ts";
import { listMaskedLabels, lookOver, MaskedSum } from "./lastLook.ts";
import { readOrganizations, type DumpedOrganization } from "./people.ts";
import { isOfLinks, nameLinksFile, seedsOf, writeSeed, type DumpedSeed } from "./seeds.ts";
import { chooseSubset, makeCondition, refuseStrangeTables, type SubsetCount, type SubsetRequest } from "./subset.ts";
import { readTables } from "./subTables.ts";
import type { TableOption } from "./tableOption.ts";
import type { TableRows } from "./tableRows.ts";

/** Selection and form of a dump. */
export interface DumpRequest {
  organizations: readonly string[];
  teams: readonly string[];
  tables: readonly TableOption[];
  /** Which import file is written beside the environment. */
  importFor: ImportTarget | "none";
  /** Name of the Environment in the program. */
  name: string;
  force: boolean;
  /** Masks for what is to leave the house. */
  mask?: MaskRequest | undefined;
  /** Rows to begin with (default: all). */
  subset?: SubsetRequest | undefined;
}

/** Contents of a finished dump. */
export interface DumpSummary {
  organizations: number;
  teams: number;
  members: number;
  tables: { table: string; seed: string; file: string; rows: number }[];
  /** Written files, below the folder. */
  files: string[];
  /** Notes on what the files can't declare. */
  warnings: string[];
  /** Rows of a subset by table. */
  subset?: SubsetCount[];
  /** Labels of a masked dump that stand in it as they are. */
  unmasked?: string[];
}

const environmentName = "environment.yaml";
const importName = "import.json";

/** Reads what is asked for and writes it into the folder, all of it or nothing. `context` may read only. */
export async function dump(context: ResourceContext, request: DumpRequest, folder: string): Promise<DumpSummary> {
  const { tables, importFor, force } = request;
  const own = tables.map(({ file }) => file);
  const rowFiles = own.flatMap((file) => (request.mask ? [file, nameLinksFile(file, own)] : [file]));
  const files = [environmentName, ...rowFiles, ...(importFor === "none" ? [] : [importName])];
  refuse(request, files, folder);
  const mask = request.mask && new DumpMask(request.mask, tables);
  const warnings: string[] = [];
  const warn = (text: string): void => void warnings.push(text);
  const firstMade = mkdirSync(dirname(folder), { recursive: true });
  const draft = mkdtempSync(`${folder}.part-`);
  const read: TableRows[] = [];
  try {
    const organizations = await readOrganizations(context, request.organizations, request.teams, warn, mask);
    read.push(
      ...(await readTables(context, tables, draft, (option) => ({
        mask: mask?.tableMask(option),
        isWanted: request.subset && makeCondition(request.subset, option.table),
      }))),
    );
    mask?.assertComplete();
    const filled = read.filter(({ count, option }) => {
      if (count === 0) warn(`table ${option.table} has no rows: it is left out`);
      return count > 0;
    });
    const declared = seedsOf(filled, warn, mask !== undefined);
    const main = declared.filter((seed) => !isOfLinks(seed));
    if (mask) refuseOpenLinks(main);
    const subset = mask && request.subset && chooseSubset(main, request.subset, (key) => mask.pseudonyms.rank(key));
    const { seeds, whole, sums } = await writeSeeds(declared, draft, warn, mask);
    for (const seed of seeds)
      if (importFor !== "none" && !whole.includes(seed)) warn(leftOut(seed, "links of it lead to rows that are gone"));
    const text = environmentText(organizations, seeds, folder, mask !== undefined);
    writeFileSync(join(draft, environmentName), text, { mode: 0o600 });
    if (importFor !== "none") {
      const existing = [...existingPeople(organizations), ...(await existingSeeds(context, whole, draft, warn))];
      writeFileSync(join(draft, importName), importText(existing, importFor, request.name), { mode: 0o600 });
    }
    if (mask) await lookOver(mask, seeds, sums, organizations, draft);
    context.signal.throwIfAborted();
    const written = publish(files, draft, folder, force);
    const more = { ...(subset ? { subset } : {}), ...(mask ? { unmasked: listUnmasked(main) } : {}) };
    return { ...counted(organizations, main), files: written, warnings, ...more };
  } finally {
    for (const rows of read) rows.remove();
    rmSync(draft, { recursive: true, force: true });
    if (firstMade !== undefined) removeEmpty(dirname(folder), firstMade);
  }
}

/** Removes a folder and those above it up to `last`, as long as they are empty: a dump that failed leaves nothing. */
function removeEmpty(folder: string, last: string): void {
  const above = resolve(last);
  for (let at = resolve(folder); at.length >= above.length && readdirSync(at).length === 0; at = dirname(at))
    rmdirSync(at);
}

/** Writes the files of seeds; returns those with rows, the complete ones, and of a masked dump the sums of what was written. */
async function writeSeeds(
  declared: readonly DumpedSeed[],
  draft: string,
  warn: (text: string) => void,
  mask: DumpMask | undefined,
): Promise<{ seeds: DumpedSeed[]; whole: DumpedSeed[]; sums: Map<DumpedSeed, MaskedSum> }> {
  const main = declared.filter((seed) => !isOfLinks(seed));
  const seeds: DumpedSeed[] = [];
  const whole: DumpedSeed[] = [];
  const sums = new Map<DumpedSeed, MaskedSum>();
  for (const seed of declared) {
    const sum = new MaskedSum();
    const masked = mask ? listMaskedLabels(seed) : [];
    const finish = mask && {
      change: mask.dateMover(seed, main),
      note: (values: RowData) => sum.add(values, masked),
    };
    const { count, isWhole } = await writeSeed(seed, draft, warn, finish);
    if (isOfLinks(seed) && count === 0) {
      // All of them led to rows that are gone, or are not chosen.
      rmSync(join(draft, seed.declaration.source));
      continue;
    }
    seeds.push(seed);
    if (isWhole) whole.push(seed);
    if (mask) sums.set(seed, sum);
  }
  return { seeds, whole, sums };
}

/** Renames what was written into the folder; returns its files. */
function publish(files: readonly string[], draft: string, folder: string, force: boolean): string[] {
  const written = files.filter((file) => existsSync(join(draft, file)));
  for (const file of written) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    renameSync(join(draft, file), join(folder, file));
  }
  // A leftover file of an earlier dump would be taken for a part of this one.
  if (force) for (const file of files) if (!written.includes(file)) rmSync(join(folder, file), { force: true });
  return written;
}

/** Labels that stand in a masked dump as they are, `<table>.<label>`. */
const listUnmasked = (seeds: readonly DumpedSeed[]): string[] =>
  seeds.flatMap(({ rows: { mask, option } }) =>
    (mask?.labels ?? []).flatMap(({ label, rule, values }) =>
      values > 0 && (rule === undefined || rule.rule.kind === "keep") ? [`${option.table}.${label}`] : [],
    ),
  );

/** Ends when the request can't be carried out, before anything is read. */
function refuse(request: DumpRequest, files: readonly string[], folder: string): void {
  const { organizations, teams, tables, force, mask, subset } = request;
  if (organizations.length + teams.length + tables.length === 0) {
    throw new DumpError(
      "say what to dump: --organization <id>, --team <id>, --table <id>:<key label>; or --stack <name>, whose state knows",
    );
  }
  for (const each of ["table", "seed", "file"] as const) {
    const all = tables.map((option) => option[each]);
    const twice = all.find((one, index) => all.indexOf(one) < index);
    if (twice !== undefined)
      throw new DumpError(`two --table have the same ${each}, ${twice}: name another file after the key`);
  }
  if (subset)
    refuseStrangeTables(
      subset,
      tables.map(({ table }) => table),
    );
  if (mask) refuseStrangers(folder, files);
  const there = files.filter((file) => existsSync(join(folder, file)));
  if (there.length > 0 && !force) {
    throw new DumpError(`${folder} has ${there.join(", ")} already: choose another folder, or overwrite with --force`);
  }
}

/** Files of an earlier dump in clear would leave the house beside a masked one. */
function refuseStrangers(folder: string, files: readonly string[]): void {
  if (!existsSync(folder)) return;
  const all = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => !one.isDirectory());
  const strange = all
    .map(({ parentPath, name }) => toSlashes(relative(folder, join(parentPath, name))))
    .filter((file) => !files.includes(file));
  if (strange.length > 0)
    throw new DumpError(
      `${folder} has ${strange.slice(0, 3).join(", ")}${strange.length > 3 ? ` and ${strange.length - 3} more` : ""} beside what is dumped: a masked dump takes a folder of its own, so that nothing in clear goes with it`,
    );
}

const leftOut = ({ rows }: DumpedSeed, reason: string): string =>
  `table ${rows.option.table} is left out of ${importName}, since its rows are not as its file says: ${reason}`;

async function existingSeeds(
  context: ResourceContext,
  seeds: readonly DumpedSeed[],
  draft: string,
  warn: (text: string) => void,
): Promise<Existing[]> {
  const found: Existing[] = [];
  for (const seed of seeds) {
    try {
      found.push(await existingSeed({ ...context, directory: draft }, seed));
    } catch (error) {
      if (context.signal.aborted) throw error;
      const reason = messageOf(error);
      warn(leftOut(seed, reason));
    }
  }
  return found;
}

function counted(organizations: readonly DumpedOrganization[], seeds: readonly DumpedSeed[]) {
  const teams = organizations.flatMap((one) => one.teams);
  return {
    organizations: organizations.length,
    teams: teams.length,
    members: teams.flatMap(({ members }) => members).length,
    tables: seeds.map(({ rows: { option, countChosen } }) => {
      const { table, seed, file } = option;
      return { table, seed, file, rows: countChosen };
    }),
  };
}
