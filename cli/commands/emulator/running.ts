// Actions of the emulator's commands; cli.ts declares them.
import type { Command } from "commander";
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createReadStream, createWriteStream } from "node:fs";
import { rename, rm, stat } from "node:fs/promises";
import { constants } from "node:os";
import { resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { adminPath, healthPath } from "../../../emulator/admin/actions.ts";
import type { Emulator, EmulatorOptions, NewCall } from "../../../emulator/index.ts";
import { requireName } from "../../../emulator/seed/snapshots.ts";
import { messageOf } from "../../../machine/failures.ts";
import { printableLine } from "../../../platform/messages/text.ts";
import { defaultAdministrator } from "../../../platform/seed/schema.ts";
import { createEmulator } from "./createEmulator.ts";

const tokenVariable = "MICROAPPS_EMULATOR_TOKEN";

/** Options of the commands that run an emulator. */
export interface EmulatorCommandOptions extends Pick<EmulatorOptions, "port" | "host" | "publicUrl" | "allowAdmin"> {
  data?: string;
  seed?: string;
  profile?: string;
  snapshot?: string;
  allowHost: string[];
  allowOrigin: string[];
  verbose?: true;
  reseed?: true;
  readOnly?: true;
}

/** Prints a failure, each mistake on a line of its own and what it repeats of the command line within one, and ends. */
function refuse(message: string): never {
  const broken = process.argv.filter((word) => word !== printableLine(word));
  const text = broken.reduce((text, word) => text.replaceAll(word, () => printableLine(word)), message);
  process.stderr.write(`error: ${text.split("\n").map(printableLine).join("\n")}\n`);
  process.exit(1);
}

const refuseError = (error: unknown): never => refuse(messageOf(error));

export async function run(options: EmulatorCommandOptions): Promise<void> {
  const emulator = await started(options).catch(refuseError);
  process.stdout.write(`${emulator.url}\nconsole: ${consoleIn(process.env, emulator)}\n`);
  for (const sentence of [...emulator.added, ...emulator.differs]) printError(sentence);
  await waitForInterrupt();
  await emulator.close();
}

/** The console's address to print. A token that an environment chose is a secret of whoever set it: its variable is named. */
const consoleIn = (environment: NodeJS.ProcessEnv, { console, token }: Emulator): string =>
  environment[tokenVariable] === token ? console.replace(token, () => `$${tokenVariable}`) : console;

/** Runs a command beside an emulator, and ends as it ends. */
export async function execute(
  words: readonly string[],
  options: EmulatorCommandOptions,
  command: Command,
): Promise<void> {
  const remarks = new Set<string>();
  const noteRemark = ({ endpoint, remark }: NewCall): void => {
    if (remark !== null && remarks.size < maxRemarks) remarks.add(`${endpoint}: ${remark}`);
  };
  const emulator = await started({ ...options, ...takenAbove(command) }, noteRemark).catch(refuseError);
  const { url, token } = emulator;
  try {
    const variables = { MICROAPPS_ENDPOINT: url, [tokenVariable]: token };
    process.exitCode = await runCommand(words, { ...withoutAccount(process.env, url), ...variables });
    for (const remark of process.exitCode === 0 ? [] : remarks) printError(`emulator: remark: ${remark}`);
  } finally {
    await emulator.close();
  }
}

/** Remarks on calls that are printed when a command failed, each once: it may have failed by what the platform ignored. */
const maxRemarks = 20;

/** Changes to an environment that may name a platform: its account belongs there, and the emulator may be called. */
function withoutAccount(environment: NodeJS.ProcessEnv, url: string): Record<string, string | undefined> {
  const { MICROAPPS_ENDPOINT: endpoint = "", MICROAPPS_ALLOWED_ENDPOINTS: allowed = "" } = environment;
  const account = ["EMAIL", "PASSWORD", "TOKEN", "USER_ID", "API_KEY"].map((name) => [`MICROAPPS_${name}`, undefined]);
  return {
    ...(/https?:/i.test(endpoint + allowed) ? (Object.fromEntries(account) as Record<string, undefined>) : {}),
    ...(allowed === "" ? {} : { MICROAPPS_ALLOWED_ENDPOINTS: `${allowed},${new URL(url).origin}` }),
  };
}

/** Options of a command that the one above it took for its own, since both have them. */
function takenAbove({ parent }: Command): Partial<EmulatorCommandOptions> {
  const options = Object.entries(parent?.opts() ?? {});
  return Object.fromEntries(options.filter(([name]) => parent?.getOptionValueSource(name) === "cli"));
}

export async function askHealth(address: string): Promise<void> {
  try {
    const response = await fetch(new URL(healthPath, address), { signal: AbortSignal.timeout(5000) });
    if (response.status !== 200) throw new Error(`it answers ${response.status}`);
    process.stdout.write(`${await response.text()}\n`);
  } catch (error) {
    refuse(`no emulator is ready at ${address}: ${messageOf(error)}`);
  }
}

export async function saveSnapshot(file: string, address: string | undefined): Promise<void> {
  const draft = `${file}.${randomUUID()}.draft`;
  try {
    requireName(file);
    const { body } = await stateOf(address, "", {});
    await pipeline(body ?? [], createWriteStream(draft, { flags: "wx", mode: 0o600, flush: true }));
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    refuseError(error);
  }
}

export async function loadSnapshot(file: string, address: string | undefined): Promise<void> {
  try {
    if ((await stat(file)).size === 0) throw new Error(`${file} is empty`);
    const body = Readable.toWeb(createReadStream(file));
    await stateOf(address, `name=${encodeURIComponent(file)}`, { method: "PUT", body, duplex: "half" });
  } catch (error) {
    refuseError(error);
  }
}

/** Asks a running emulator for its state, or gives it another one. */
async function stateOf(console: string | undefined, query: string, request: RequestInit): Promise<Response> {
  const { MICROAPPS_ENDPOINT: known, [tokenVariable]: knownToken } = process.env;
  const address = URL.parse(console ?? known ?? "");
  if (!address) throw new Error("give the console's address, or the emulator's as MICROAPPS_ENDPOINT");
  const token = /^#token=([\w-]+)$/.exec(address.hash)?.[1] ?? knownToken ?? "";
  const path = `${address.pathname.replace(/\/$/, "")}${adminPath}state?${query}`;
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(new URL(path, address), { ...request, headers }).catch((error: unknown) => {
    throw new Error(`no emulator answers at ${address.origin}: ${messageOf(error)}`);
  });
  if (response.status === 200) return response;
  const { message } = (await response.json().catch(() => ({}))) as { message?: string };
  throw new Error(message ?? `${address.origin} answers ${response.status}`);
}

/** @param onCall runs for each call unless `--verbose` prints them */
async function started(options: EmulatorCommandOptions, onCall?: (call: NewCall) => void): Promise<Emulator> {
  const { data, seed, snapshot, profile, allowHost, allowOrigin, verbose, ...same } = options;
  const path = (file: string | undefined) => (file === undefined ? undefined : resolve(file));
  return createEmulator({
    ...same,
    ...{ allowHosts: allowHost, allowOrigins: allowOrigin, onCall: verbose ? printCall : onCall },
    ...{ data: path(data), seed: path(seed), snapshot: path(snapshot), profile: path(profile) },
    allowAdmin: options.allowAdmin ?? process.env["MICROAPPS_EMULATOR_ALLOW_ADMIN"] === "true",
    token: process.env[tokenVariable] || undefined,
    administrator: administratorIn(process.env),
  });
}

/** Prints a call on the error stream, where what runs beside the emulator leaves room for it. */
function printCall({ endpoint, status, duration, failure, fault, remark }: NewCall): void {
  const notes = [failure, fault === null ? null : `fault: ${fault}`, remark === null ? null : `remark: ${remark}`];
  const words = [endpoint, status, `${Math.round(duration)} ms`, ...notes.filter((note) => note !== null)];
  printError(words.join("  "));
}

const printError = (line: string): boolean => process.stderr.write(`${printableLine(line)}\n`);

/** The administrator that an environment names, such as a container's; undefined when it names none. */
function administratorIn(environment: NodeJS.ProcessEnv): EmulatorOptions["administrator"] {
  const {
    MICROAPPS_EMULATOR_EMAIL: email = defaultAdministrator.email,
    MICROAPPS_EMULATOR_PASSWORD: password,
    MICROAPPS_EMULATOR_API_KEY: apiKey,
  } = environment;
  if (password) return { email, password, apiKey };
  if (apiKey === undefined && email === defaultAdministrator.email) return undefined;
  throw new Error(
    "MICROAPPS_EMULATOR_PASSWORD is missing beside MICROAPPS_EMULATOR_EMAIL or MICROAPPS_EMULATOR_API_KEY",
  );
}

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Runs a command with further variables, or without those that are undefined, beside this process: it has the terminal, and
 * gets the signals that come here.
 * The answer is its exit status as a shell has it, 127 where it can't be run.
 */
async function runCommand(
  [name = "", ...parameters]: readonly string[],
  variables: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const pass = (signal: NodeJS.Signals): void => {
    // A terminal has sent its interrupt to both.
    if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
  };
  for (const signal of signals) process.on(signal, pass);
  const child = spawn(name, parameters, { stdio: "inherit", env: { ...process.env, ...variables } });
  try {
    const [status, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
    return status ?? 128 + (signal === null ? 0 : constants.signals[signal]);
  } catch (error) {
    process.stderr.write(`error: ${name} can't be run: ${messageOf(error)}\n`);
    return 127;
  } finally {
    for (const signal of signals) process.off(signal, pass);
  }
}

/** Waits until this process is asked to end. */
const waitForInterrupt = (): Promise<void> =>
  new Promise((stop) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop());
  });
