import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { messageOf } from "../../machine/failures.ts";
import type { ResourceContext } from "../../provider/resources/resource.ts";
import { DumpError } from "./dumpError.ts";
import { environmentText } from "./environmentFile.ts";
import { existingPeople, existingSeed, type Existing } from "./existing.ts";
import { importText, type ImportTarget } from "./importFile.ts";
import { readOrganizations, type DumpedOrganization } from "./people.ts";
import { seedsOf, writeSeed, type Seed } from "./seeds.ts";
import type { TableOption } from "./tableOption.ts";
import { TableRows } from "./tableRows.ts";

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
}

const environmentName = "environment.yaml";
const importName = "import.json";

/** Reads what is asked for and writes it into the folder, all of it or nothing. `context` may read only. */
export async function dump(context: ResourceContext, request: DumpRequest, folder: string): Promise<DumpSummary> {
  const { tables, importFor, force } = request;
  const files = [environmentName, ...tables.map(({ file }) => file), ...(importFor === "none" ? [] : [importName])];
  refuse(request, files, folder);
  const warnings: string[] = [];
  const warn = (text: string): void => void warnings.push(text);
  mkdirSync(dirname(folder), { recursive: true });
  const draft = mkdtempSync(`${folder}.part-`);
  const read: TableRows[] = [];
  try {
    const organizations = await readOrganizations(context, request.organizations, request.teams, warn);
    for (const [index, option] of tables.entries()) {
      read.push(await TableRows.read(context, option, join(draft, `.spool-${index}`)));
    }
    const filled = read.filter(({ count, option }) => {
      if (count === 0) warn(`table ${option.table} has no rows: it is left out`);
      return count > 0;
    });
    const seeds = seedsOf(filled, warn);
    const whole: Seed[] = [];
    for (const seed of seeds) {
      if (await writeSeed(seed, draft, warn)) whole.push(seed);
      else if (importFor !== "none") warn(leftOut(seed, "links of it lead to rows that are gone"));
    }
    writeFileSync(join(draft, environmentName), environmentText(organizations, seeds, folder), { mode: 0o600 });
    if (importFor !== "none") {
      const existing = [...existingPeople(organizations), ...(await existingSeeds(context, whole, draft, warn))];
      writeFileSync(join(draft, importName), importText(existing, importFor, request.name), { mode: 0o600 });
    }
    const written = files.filter((file) => existsSync(join(draft, file)));
    for (const file of written) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      renameSync(join(draft, file), join(folder, file));
    }
    // A leftover file of an earlier dump would be taken for a part of this one.
    if (force) for (const file of files) if (!written.includes(file)) rmSync(join(folder, file), { force: true });
    return { ...counted(organizations, seeds), files: written, warnings };
  } finally {
    for (const rows of read) rows.remove();
    rmSync(draft, { recursive: true, force: true });
  }
}

/** Ends when the request can't be carried out, before anything is read. */
function refuse({ organizations, teams, tables, force }: DumpRequest, files: readonly string[], folder: string): void {
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
  const there = files.filter((file) => existsSync(join(folder, file)));
  if (there.length > 0 && !force) {
    throw new DumpError(`${folder} has ${there.join(", ")} already: choose another folder, or overwrite with --force`);
  }
}

const leftOut = ({ rows }: Seed, reason: string): string =>
  `table ${rows.option.table} is left out of ${importName}, since its rows are not as its file says: ${reason}`;

async function existingSeeds(
  context: ResourceContext,
  seeds: readonly Seed[],
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

function counted(organizations: readonly DumpedOrganization[], seeds: readonly Seed[]) {
  const teams = organizations.flatMap((one) => one.teams);
  return {
    organizations: organizations.length,
    teams: teams.length,
    members: teams.flatMap(({ members }) => members).length,
    tables: seeds.map(({ rows: { option, count } }) => {
      const { table, seed, file } = option;
      return { table, seed, file, rows: count };
    }),
  };
}
