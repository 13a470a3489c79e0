import path from "node:path";
import { printable, printableJson, projectAt } from "../../engine/index.ts";
import { formatCount } from "../../platform/messages/text.ts";
import { checkMasks, describeCheck, dump, type DumpRequest, type DumpSummary } from "../dump/dump.ts";
import { readMasks, readMaskSecret } from "../dump/masks.ts";
import { DumpError, tableOption } from "../dump/tables.ts";
import { look, readManaged, settingsOf } from "./platform.ts";

/** Flags of the command. */
export interface DumpOptions {
  cwd?: string;
  stack?: string;
  organization: string[];
  team: string[];
  table: string[];
  mask?: string;
  check?: string;
  import?: DumpRequest["importFor"];
  name: string;
  force?: boolean;
  json?: boolean;
}

/** Dumps what the flags select into a folder, and prints what was written; with `check` prints what rules would do. */
export async function dumpPlatform(folder: string | undefined, options: DumpOptions): Promise<void> {
  const cwd = path.resolve(options.cwd ?? ".");
  const masking = maskingOf(folder, options, cwd);
  const { organization: organizations, team: teams, table } = options;
  const named = { organizations, teams, tables: table.map(tableOption) };
  const isNamed = organizations.length + teams.length + table.length > 0;
  const { settings, folder: program, stack } = await settingsOf(options);
  const request = {
    ...(stack && !isNamed ? await readManaged(stack) : named),
    importFor:
      options.mask === undefined ? (options.import ?? (hasProgram(cwd) ? "dynamic" : "files")) : ("none" as const),
    name: options.name,
    force: options.force ?? false,
    ...masking,
  };
  const print = (content: object, text: string): void =>
    void process.stdout.write(`${options.json ? printableJson(content, 2) : printable(text, false)}\n`);
  if (options.check !== undefined) {
    const masks = readMasks(masksPath(cwd, options.check));
    const check = await look(settings, program, (context) => checkMasks(context, masks, request));
    print(check, describeCheck(check));
    if (check.problems.length > 0) process.exitCode = 1;
    return;
  }
  const into = folder ?? "";
  const summary = await look(settings, program, (context) => dump(context, request, path.resolve(cwd, into)));
  print({ folder: into, ...summary }, summarize(into, summary));
}

/** True where the project of a folder is a program's, whatever says which platform is dumped. */
function hasProgram(cwd: string): boolean {
  try {
    return projectAt(cwd).runtime !== "yaml";
  } catch {
    return false; // there is none
  }
}

/** The path of a masks file as messages name it. */
const masksPath = (cwd: string, file: string): string => path.relative("", path.resolve(cwd, file));

/** The masks that the flags ask for. Everything that a flag can get wrong ends here, before a call. */
function maskingOf(
  folder: string | undefined,
  { mask, check, import: importFor }: DumpOptions,
  cwd: string,
): Pick<DumpRequest, "mask"> {
  if (check !== undefined && mask !== undefined)
    throw new DumpError("--check writes nothing: leave --mask out, or --check");
  if (check !== undefined && folder !== undefined) throw new DumpError("--check writes nothing: leave the folder out");
  if (check === undefined && folder === undefined) throw new DumpError("say where to: microapps dump <folder>");
  if (mask === undefined) return {};
  if (importFor === "plugin")
    throw new DumpError(
      "a masked dump can't be imported, since its rows are not those of the platform: leave --import out",
    );
  return { mask: { file: readMasks(masksPath(cwd, mask)), secret: readMaskSecret(process.env) } };
}

function summarize(
  folder: string,
  { organizations, teams, members, tables, files, warnings, unmasked = [] }: DumpSummary,
): string {
  const rows = tables.map((one) => `  ${one.file}: ${formatCount(one.rows, "row")} of table ${one.table}`);
  const people = `  ${[formatCount(organizations, "organization"), formatCount(teams, "team"), formatCount(members, "member")].join(", ")}`;
  return [
    `Dumped into ${folder}: ${files.join(", ")}`,
    people,
    ...rows,
    ...(unmasked.length > 0 ? [`  unmasked: ${unmasked.join(", ")}`] : []),
    ...warnings.map((text) => `warning: ${text}`),
  ].join("\n");
}
