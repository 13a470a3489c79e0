import type { Command } from "commander";
import type { Crypter } from "../state/crypter.ts";
import { printJson, printValue, readAll, readTyped, type Terminal } from "../terminal/prompts.ts";
import { type ConfigEntry, configOf } from "../workspace/config.ts";
import { getConfig, removeConfig, setConfig } from "../workspace/configEdits.ts";
import type { FoundStack } from "../workspace/workspace.ts";
import { type GlobalOptions, openWorkspace, optionsOf } from "./globals.ts";
import { allowWords, refuseDashedValue, refuseWords } from "./pulumi.ts";

interface Options {
  json?: boolean;
  secret?: boolean;
  plaintext?: boolean;
  showSecrets?: boolean;
}

export function addConfigCommands(program: Command, terminal: Terminal): void {
  const config = allowWords(program.command("config"))
    .description("list, read and change the configuration of a stack")
    .option("-j, --json", "print JSON")
    .option("--show-secrets", "show secrets in plain text")
    .hook("preSubcommand", refuseDashedValue)
    .action((_, command: Command) => {
      refuseWords(command);
      return list(terminal, optionsOf<Options>(command));
    });
  config
    .command("set")
    .description(
      "set a value; read from standard input when it is left out, so that a secret stays out of the shell's history",
    )
    .argument("<key>")
    .argument("[value]")
    .option("--secret", "encrypt the value")
    .option("--plaintext", "keep the value readable, which is the default")
    .action((key: string, value: string | undefined, _, command: Command) =>
      set(terminal, key, value, optionsOf<Options>(command)),
    );
  config
    .command("get")
    .description("print a value in plain text")
    .argument("<key>")
    .option("-j, --json", "print JSON")
    .action((key: string, _, command: Command) => get(terminal, key, optionsOf<Options>(command)));
  config
    .command("rm")
    .aliases(["remove", "delete"])
    .description("remove a value")
    .argument("<key>")
    .action((key: string, _, command: Command) => remove(terminal, key, optionsOf<Options>(command)));
}

async function set(
  terminal: Terminal,
  key: string,
  value: string | undefined,
  options: Options & GlobalOptions,
): Promise<void> {
  const { found, crypter } = await find(terminal, options);
  const secret = options.secret ? await crypter() : undefined;
  const text = value ?? (await (terminal.input.isTTY ? readTyped(terminal, "value: ", !!secret) : readAll(terminal)));
  await setConfig(found, key, text, secret);
}

async function get(terminal: Terminal, key: string, options: Options & GlobalOptions): Promise<void> {
  const { found, crypter } = await find(terminal, options);
  const { secret } = getConfig(found, key);
  const entry = getConfig(found, key, secret ? await crypter() : undefined);
  if (options.json) printJson(terminal, described(entry, true));
  else printValue(terminal, entry.text);
}

async function remove(terminal: Terminal, key: string, options: Options & GlobalOptions): Promise<void> {
  await removeConfig((await find(terminal, options)).found, key);
}

/** Finds the stack, whose passphrase is asked for, and its key derived, where a secret is set or shown alone: that takes a third of a second. */
async function find(
  terminal: Terminal,
  options: GlobalOptions,
): Promise<{ found: FoundStack; crypter: () => Promise<Crypter> }> {
  const workspace = await openWorkspace(options, terminal);
  const found = await workspace.find(options.stack);
  return { found, crypter: async () => (await workspace.unlock(found)).crypter };
}

async function list(terminal: Terminal, options: Options & GlobalOptions): Promise<void> {
  const { found, crypter } = await find(terminal, options);
  const { file, project } = found;
  const own = `${project.name}:`;
  const config = configOf(file.values(), project, options.showSecrets ? await crypter() : undefined);
  const entries = Object.entries(config).sort(([a], [b]) => (a < b ? -1 : 1));
  if (options.json) {
    printJson(
      terminal,
      Object.fromEntries(entries.map(([key, entry]) => [key, described(entry, options.showSecrets ?? false)])),
    );
    return;
  }
  const rows = entries.map(([key, { text }]) => [key.startsWith(own) ? key.slice(own.length) : key, text]);
  const { printTable } = await import("../terminal/columns.ts");
  printTable(terminal, [["KEY", "VALUE"], ...rows]);
}

function described({ text, secret, object }: ConfigEntry, showSecrets: boolean): Record<string, unknown> {
  if (secret && !showSecrets) return { secret };
  return { value: text, ...(object ? { objectValue: JSON.parse(text) as unknown } : {}), secret };
}
