import { InvalidArgumentError, Option, type Command } from "commander";
import { resolve } from "node:path";
import { interrupted, runCommand } from "../machine/commands.ts";
import type { WireNames } from "../provider/contract/endpoints.ts";
import type { Emulator } from "./emulator.ts";

interface Options {
  port: number;
  data?: string;
  seed?: string;
  profile?: string;
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
}

function withOptions(command: Command): Command {
  return command
    .option("--port <number>", "port to listen on; a free one when it is 0", portIn, 0)
    .option("--data <file>", "data file, made when it is missing; in memory without one")
    .option(
      "--seed <file>",
      "YAML file with tables, users and settings, or of an Environment; taken when the data file is new",
    )
    .option(
      "--profile <file>",
      "platform-profile.yaml: behave as that platform was seen to behave; kept in the data file",
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

function startedOrRefused(options: Options, command: Command): Promise<Emulator> {
  return started(options).catch((error: unknown) => command.error(`error: ${messageOf(error)}`));
}

async function run(options: Options, command: Command): Promise<void> {
  const emulator = await startedOrRefused(options, command);
  process.stdout.write(`${emulator.url}\nconsole: ${emulator.console}\n`);
  await interrupted();
  await emulator.close();
}

/** Runs a command beside an emulator, and ends as it ends. */
async function execute(words: string[], options: Options, command: Command): Promise<void> {
  const emulator = await startedOrRefused(options, command);
  const { url, token } = emulator;
  try {
    process.exitCode = await runCommand(words, { MICROAPPS_ENDPOINT: url, MICROAPPS_EMULATOR_TOKEN: token });
  } finally {
    await emulator.close();
  }
}

async function askHealth(address: string, _options: object, command: Command): Promise<void> {
  try {
    const { healthPath } = await import("./admin/health.ts");
    const response = await fetch(new URL(healthPath, address), { signal: AbortSignal.timeout(5000) });
    if (response.status !== 200) throw new Error(`it answers ${response.status}`);
    process.stdout.write(`${await response.text()}\n`);
  } catch (error) {
    command.error(`error: no emulator is ready at ${address}: ${messageOf(error)}`);
  }
}

/** Loaded when it is needed: other commands are to start fast. */
async function started({ data, seed, strict, loose, tenant, ...options }: Options): Promise<Emulator> {
  const from = seed === undefined ? undefined : resolve(seed);
  const { createEmulator } = await import("./emulator.ts");
  return createEmulator({
    port: options.port,
    host: options.host,
    allowHosts: options.allowHost,
    publicUrl: options.publicUrl,
    wireNames: options.wireName,
    data: data === undefined ? undefined : resolve(data),
    seed: from,
    profile: options.profile === undefined ? undefined : resolve(options.profile),
    readOnly: options.readOnly,
    settings: strict ? { strict: true } : loose ? { strict: false } : {},
    tenants: Object.fromEntries(tenant.map((name) => [name, { seed: from }])),
  });
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
