import path from "node:path";
import { printable, printableJson } from "../../engine/index.ts";
import { messageOf } from "../../machine/failures.ts";
import { formatCount } from "../../provider/messages/text.ts";
import { connect } from "../../provider/pulumi/platform.ts";
import { maskOf } from "../../provider/pulumi/secrets.ts";
import { dump, type DumpRequest, type DumpSummary } from "../dump/dump.ts";
import { tableOption } from "../dump/tableOption.ts";
import { lookingContext } from "./lookingContext.ts";
import { readManaged } from "./managed.ts";
import { progressLine } from "./progressLine.ts";
import { settingsOf } from "./settings.ts";

/** Flags of the command. */
export interface DumpOptions {
  cwd?: string;
  stack?: string;
  organization: string[];
  team: string[];
  table: string[];
  import: DumpRequest["importFor"];
  name: string;
  force?: boolean;
  json?: boolean;
}

/** Dumps what the flags select into a folder; prints what was written. */
export async function dumpPlatform(folder: string, options: DumpOptions): Promise<void> {
  const cwd = path.resolve(options.cwd ?? ".");
  const { organization: organizations, team: teams, table } = options;
  const named = { organizations, teams, tables: table.map(tableOption) };
  const isNamed = organizations.length + teams.length + table.length > 0;
  // Variables alone name no stack that could know.
  const knows = !isNamed && (options.stack !== undefined || !process.env["MICROAPPS_ENDPOINT"]);
  const request = {
    ...(knows ? await readManaged(cwd, options.stack) : named),
    importFor: options.import,
    name: options.name,
    force: options.force ?? false,
  };
  const { settings, folder: program } = await settingsOf(cwd, options.stack);
  const stopped = new AbortController();
  const stop = (): void => stopped.abort();
  process.once("SIGINT", stop);
  const { signal } = stopped;
  // Whatever it meets on the way, a dump changes nothing.
  const platform = await connect({ ...settings, readOnly: true }, program, signal);
  const progress = progressLine(process.stderr);
  try {
    const context = lookingContext(platform, settings, program, signal, progress.show);
    const summary = await dump(context, request, path.resolve(cwd, folder));
    progress.end();
    const text = options.json ? printableJson({ folder, ...summary }, 2) : printable(summarize(folder, summary), false);
    process.stdout.write(`${text}\n`);
  } catch (error) {
    progress.end();
    throw new Error(maskOf(settings).hide(messageOf(error)), { cause: error });
  } finally {
    process.removeListener("SIGINT", stop);
    await platform.close();
  }
}

function summarize(folder: string, { organizations, teams, members, tables, files, warnings }: DumpSummary): string {
  const rows = tables.map((one) => `  ${one.file}: ${formatCount(one.rows, "row")} of table ${one.table}`);
  const people = `  ${[formatCount(organizations, "organization"), formatCount(teams, "team"), formatCount(members, "member")].join(", ")}`;
  return [
    `Dumped into ${folder}: ${files.join(", ")}`,
    people,
    ...rows,
    ...warnings.map((text) => `warning: ${text}`),
  ].join("\n");
}
