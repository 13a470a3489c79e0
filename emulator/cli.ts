import { InvalidArgumentError, Option, type Command } from "commander";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { constants } from "node:os";
import { basename, resolve } from "node:path";
import { Readable } from "node:stream";
import type { WireNames } from "../provider/contract/endpoints.ts";
import { printableLine } from "../provider/messages/text.ts";
import { adminPath } from "./admin/actions.ts";
import { healthPath } from "./admin/health.ts";
import { createEmulator, type Emulator, type EmulatorOptions } from "./emulator.ts";
import { packingOf, writeWhole } from "./platform/snapshotFiles.ts";
import { defaultAdministrator } from "./seed/schema.ts";

interface Options {
  port: number;
  data?: string;
  seed?: string;
  snapshot?: string;
  host: string;
  allowHost: string[];
  publicUrl?: string;
  wireName: WireNames;
  readOnly?: true;
  strict?: true;
  loose?: true;
  tenant: string[];
}

const renamed = ["platformFormat", "storecopy", "uploadFileToStore"] as const satisfies (keyof WireNames)[];

/** Adds the command that runs the emulator until it is interrupted. It prints its address, and on the next line the console's. */
export function addEmulatorCommand(program: Command): void {
  const emulator = withOptions(program.command("emulator"))
    .description("run the platform on this machine")
    .enablePositionalOptions()
    .action(run);
  withOptions(emulator.command("exec"))
    .description("run a command beside an emulator of its own, whose address is in MICROAPPS_ENDPOINT")
    .argument("<command...>", "the command and its parameters")
    .passThroughOptions()
    .action(execute);
  emulator
    .command("health")
    .description("ask an emulator whether it is ready")
    .argument("<address>", "its address, such as http://127.0.0.1:8080")
    .action(askHealth);
  const snapshot = emulator
    .command("snapshot")
    .description("save the state of a running emulator to a file, or load it");
  for (const [name, what, work] of [
    ["save", "save the state of a running emulator to a file", saveSnapshot],
    ["load", "put a running emulator to the state in a file", loadSnapshot],
  ] as const) {
    snapshot
      .command(name)
      .description(what)
      .argument("<file>", "the file, whose name ends in .json.zst, .json.gz or .json")
      .argument("[address]", "the console's address, which has the token; else as MICROAPPS_ENDPOINT has it")
      .action(work);
  }
}

function withOptions(command: Command): Command {
  return command
    .option("--port <number>", "port to listen on; a free one when it is 0", portIn, 0)
    .option("--data <file>", "data file, made when it is missing; in memory without one")
    .option(
      "--seed <file>",
      "YAML file with tables, users and settings, or of an Environment; taken when the data file is new",
    )
    .addOption(
      new Option(
        "--snapshot <file>",
        "file that a snapshot was saved to, in place of a seed; taken when the data file is new",
      ).conflicts("seed"),
    )
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option(
      "--allow-host <name>",
      "a further name that requests may call it by, as a proxy or a hosts file does; may be given again",
      listed,
      [],
    )
    .option("--public-url <address>", "address that clients are given; that of their own request without it")
    .option(
      "--wire-name <ours=theirs>",
      `a name that clients spell differently: ${renamed.join(", ")}; may be given again`,
      wireNameIn,
      {},
    )
    .option("--read-only", "refuse every call that changes the platform")
    .addOption(new Option("--strict", "refuse values that do not fit a field's type").conflicts("loose"))
    .option("--loose", "take any value for any field")
    .option(
      "--tenant <name>",
      "a further platform at /tenants/<name>, with the same seed; may be given again",
      listed,
      [],
    );
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Prints a failure, each mistake on a line of its own and what it repeats of the command line within one, and ends. */
function refuse(message: string): never {
  const broken = process.argv.filter((word) => word !== printableLine(word));
  const text = broken.reduce((text, word) => text.replaceAll(word, () => printableLine(word)), message);
  process.stderr.write(`error: ${text.split("\n").map(printableLine).join("\n")}\n`);
  process.exit(1);
}

const refuseError = (error: unknown): never => refuse(messageOf(error));

async function run(options: Options): Promise<void> {
  const emulator = await started(options).catch(refuseError);
  process.stdout.write(`${emulator.url}\nconsole: ${emulator.console}\n`);
  await new Promise<void>((stop) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop());
  });
  await emulator.close();
}

/** Runs a command beside an emulator, and ends as it ends. */
async function execute([name = "", ...parameters]: string[], options: Options, command: Command): Promise<void> {
  const emulator = await started({ ...options, ...takenAbove(command) }).catch(refuseError);
  const { url, token } = emulator;
  const env = { ...process.env, MICROAPPS_ENDPOINT: url, MICROAPPS_EMULATOR_TOKEN: token };
  const child = spawn(name, parameters, { stdio: "inherit", env });
  const pass = (signal: NodeJS.Signals) => {
    // A terminal has sent its interrupt to both.
    if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
  };
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.on(signal, pass);
  try {
    const [status, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
    process.exitCode = status ?? 128 + (signal === null ? 0 : constants.signals[signal]);
  } catch (error) {
    process.stderr.write(`error: ${name} can't be run: ${messageOf(error)}\n`);
    process.exitCode = 127;
  } finally {
    await emulator.close();
    for (const signal of signals) process.off(signal, pass);
  }
}

/** Options of a command that the one above it took for its own, since both have them. */
function takenAbove({ parent }: Command): Partial<Options> {
  const options = Object.entries(parent?.opts() ?? {});
  return Object.fromEntries(options.filter(([name]) => parent?.getOptionValueSource(name) === "cli"));
}

async function askHealth(address: string): Promise<void> {
  try {
    const response = await fetch(new URL(healthPath, address), { signal: AbortSignal.timeout(5000) });
    if (response.status !== 200) throw new Error(`it answers ${response.status}`);
    process.stdout.write(`${await response.text()}\n`);
  } catch (error) {
    refuse(`no emulator is ready at ${address}: ${messageOf(error)}`);
  }
}

async function saveSnapshot(file: string, address: string | undefined): Promise<void> {
  try {
    packingOf(file);
    const { body } = await stateOf(address, `name=${encodeURIComponent(basename(file))}`, {});
    if (body) await writeWhole(file, body);
  } catch (error) {
    refuseError(error);
  }
}

async function loadSnapshot(file: string, address: string | undefined): Promise<void> {
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
  const { MICROAPPS_ENDPOINT: known, MICROAPPS_EMULATOR_TOKEN: knownToken } = process.env;
  const address = URL.parse(console ?? known ?? "");
  if (!address) throw new Error("give the console's address, or the emulator's as MICROAPPS_ENDPOINT");
  const token = /^#token=(.+)$/.exec(address.hash)?.[1] ?? knownToken ?? "";
  const path = `${address.pathname.replace(/\/$/, "")}${adminPath}state?${query}`;
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(new URL(path, address), { ...request, headers }).catch((error: unknown) => {
    throw new Error(`no emulator answers at ${address.origin}: ${messageOf(error)}`);
  });
  if (response.status === 200) return response;
  const { message } = (await response.json().catch(() => ({}))) as { message?: string };
  throw new Error(message ?? `${address.origin} answers ${response.status}`);
}

async function started({ data, seed, snapshot, strict, loose, tenant, ...options }: Options): Promise<Emulator> {
  const from = {
    seed: seed === undefined ? undefined : resolve(seed),
    snapshot: snapshot === undefined ? undefined : resolve(snapshot),
  };
  return createEmulator({
    port: options.port,
    host: options.host,
    allowHosts: options.allowHost,
    publicUrl: options.publicUrl,
    administrator: administratorIn(process.env),
    wireNames: options.wireName,
    data: data === undefined ? undefined : resolve(data),
    ...from,
    readOnly: options.readOnly,
    settings: strict ? { strict: true } : loose ? { strict: false } : {},
    tenants: Object.fromEntries(tenant.map((name) => [name, from])),
  });
}

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

function portIn(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new InvalidArgumentError("It must be 0 to 65535.");
  return port;
}

function wireNameIn(text: string, names: WireNames): WireNames {
  const [ours = "", theirs = ""] = text.split(/=(.*)/s);
  const name = renamed.find((name) => name === ours);
  if (name === undefined || !/^[\w-]+$/.test(theirs)) {
    throw new InvalidArgumentError(`It must be ${renamed.map((name) => `${name}=<name>`).join(", or ")}.`);
  }
  return { ...names, [name]: theirs };
}

function listed(name: string, names: string[]): string[] {
  return [...names, name];
}
