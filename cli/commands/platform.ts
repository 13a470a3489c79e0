import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openStack, type GlobalOptions } from "../../engine/cli/globals.ts";
import { processTerminal, type Stack, type Terminal } from "../../engine/index.ts";
import { messageOf } from "../../machine/failures.ts";
import { today } from "../../machine/today.ts";
import { printableLine } from "../../platform/messages/text.ts";
import {
  type Configuration,
  ConfigurationError,
  configure,
  describeMisplacedSecrets,
  platformOf,
} from "../../provider/pulumi/configuration.ts";
import { connect, type PlatformAccess } from "../../provider/pulumi/platform.ts";
import { maskOf } from "../../provider/pulumi/properties.ts";
import { Journal } from "../../provider/resources/journal.ts";
import { type Context } from "../../provider/resources/resource.ts";
import { Run } from "../../provider/resources/run.ts";
import type { Seed } from "../../provider/seedRows/inputs.ts";
import { type TableOption, tableOption } from "../dump/tables.ts";

/** What says which platform is meant: flags of the command, and the terminal whose environment has variables. */
type Naming = Pick<GlobalOptions, "cwd" | "stack" | "nonInteractive">;

/** The settings of the variables alone where these are complete; else those of the stack, which variables override. */
export async function settingsOf(
  flags: Naming,
  terminal: Terminal = processTerminal,
): Promise<{ settings: Configuration; folder: string; stack?: Stack }> {
  const { environment } = terminal;
  if (isOfVariables(flags.stack, environment))
    return { settings: configure({}, environment), folder: path.resolve(flags.cwd ?? ".") };
  const stack = await openStack({ color: "never", ...flags }, terminal);
  return { settings: stackSettings(stack, environment), folder: stack.project.workdir, stack };
}

/** True if the variables alone say which platform is meant. */
export const isOfVariables = (stack: string | undefined, environment: NodeJS.ProcessEnv): boolean =>
  stack === undefined && Boolean(environment["MICROAPPS_ENDPOINT"]);

/** The configuration of a stack under `microapps:`, with secrets in clear. */
export const readOwnSettings = (stack: Stack): Record<string, { text: string; secret: boolean }> =>
  Object.fromEntries(
    Object.entries(stack.config()).flatMap(([key, entry]) =>
      key.startsWith("microapps:") ? [[key.slice("microapps:".length), entry] as const] : [],
    ),
  );

/** The settings of a stack, which variables override. */
export function stackSettings(stack: Stack, environment: NodeJS.ProcessEnv): Configuration {
  const own = readOwnSettings(stack);
  const misplaced = describeMisplacedSecrets((key) => own[key]?.secret ?? false);
  if (misplaced !== undefined) throw new ConfigurationError(misplaced);
  const texts = Object.fromEntries(Object.entries(own).map(([key, { text }]) => [key, text]));
  return configure(texts, environment);
}

/** Things that a stack manages, by ID. */
interface Managed {
  organizations: string[];
  teams: string[];
  tables: TableOption[];
}

type StateResources = Awaited<ReturnType<Stack["read"]>>["resources"];

/** The resources of one of our types, of both kinds of provider. */
export const ofType = (resources: StateResources, type: string): StateResources =>
  resources.filter((resource) => resource.type.split(":").at(-1) === type);

/** Seeds whose table and key are known, with their outputs. */
export const seedsIn = (
  resources: StateResources,
): {
  table: string;
  key: string[];
  parent: { table: string; by: string } | undefined;
  outputs: StateResources[number]["outputs"];
}[] =>
  ofType(resources, "SeedRows").flatMap(({ outputs }) => {
    const { table, key } = outputs;
    const { parent } = outputs as Pick<Seed, "parent">; // as the seed wrote it
    return typeof table === "string" && Array.isArray(key) ? [{ table, key: key.map(String), parent, outputs }] : [];
  });

/** The things in a stack's state. */
export async function readManaged(stack: Stack): Promise<Managed> {
  const { resources } = await stack.read();
  const tables = seedsIn(resources).map(({ table, key, parent }) => ({
    ...tableOption(`${table}:${key.join("+")}`),
    parent: parent ?? null,
  }));
  const byTable = new Map(tables.map((option) => [option.table, option]));
  const ids = (type: string): string[] => [...new Set(ofType(resources, type).map(({ id }) => id))];
  return { organizations: ids("Organization"), teams: ids("Team"), tables: [...byTable.values()] };
}

const nobody = (): void => undefined;

/** The context of reads without an engine: notes no claims, and reports only `status`. */
export const lookingContext = (
  { client, members, tables }: Pick<PlatformAccess, "client" | "members" | "tables">,
  settings: Configuration,
  program: string,
  signal: AbortSignal,
  status: (text: string) => void = nobody,
): Context => ({
  client,
  members,
  tables,
  signal,
  directory: program,
  day: today(),
  dialect: client.dialect,
  platform: platformOf(settings),
  account: { email: settings.email, userID: settings.userID },
  ...new Run(program).known,
  journal: new Journal(() => platformOf(settings)),
  readsFirst: false,
  assertAlone: nobody,
  hide: nobody,
  publicID: (id: string) => id,
  report: { status, info: nobody, forecast: nobody, warning: nobody },
  sleep: (milliseconds: number) => sleep(milliseconds, undefined, { signal }),
  now: Date.now,
});

const stopping = ["SIGINT", "SIGTERM"] as const;

/**
 * Works with a platform by reads alone: whatever it meets on the way, it changes nothing. A signal to stop ends its calls, a
 * terminal shows how far it is, and no message has a secret. `tables` and `members` of the work may be others.
 */
export async function look<Found>(
  settings: Configuration,
  program: string,
  work: (context: Context, access: PlatformAccess) => Promise<Found>,
): Promise<Found> {
  const stopped = new AbortController();
  const stop = (): void => stopped.abort();
  for (const signal of stopping) process.once(signal, stop);
  const progress = progressLine(process.stderr);
  try {
    const access = await connect({ ...settings, readOnly: true }, program, stopped.signal);
    try {
      return await work(lookingContext(access, settings, program, stopped.signal, progress.show), access);
    } finally {
      await access.close();
    }
  } catch (error) {
    throw new Error(maskOf(settings).hide(messageOf(error)), { cause: error });
  } finally {
    progress.end();
    for (const signal of stopping) process.removeListener(signal, stop);
  }
}

interface Stream {
  isTTY?: boolean;
  write: (text: string) => unknown;
}

/** A line on a terminal that the next one replaces, ten in a second at most; elsewhere one in ten seconds. */
export function progressLine(
  stream: Stream,
  now: () => number = () => performance.now(),
): { show: (text: string) => void; end: () => void } {
  const throttleMs = stream.isTTY ? 100 : 10_000;
  let last = now();
  let shown = false;
  return {
    show: (text) => {
      if (now() - last < throttleMs) return;
      last = now();
      shown = true;
      const line = printableLine(text); // tables are called as the platform calls them
      stream.write(stream.isTTY ? `\r\u001B[K${line}` : `${line}\n`);
    },
    end: () => {
      if (shown && stream.isTTY) stream.write("\r\u001B[K");
    },
  };
}
