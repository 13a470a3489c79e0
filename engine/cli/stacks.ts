import { type Command, Option } from "commander";
import { writeFileSync } from "node:fs";
import { keepToOwner } from "../../machine/ownFile.ts";
import { EngineError } from "../errors.ts";
import { breakLocks, runningHolders } from "../state/lock.ts";
import { ask, isInteractive, printJson, printValue, type Terminal } from "../terminal/prompts.ts";
import { oneLine, printableJson } from "../terminal/text.ts";
import { stackType } from "../values/urns.ts";
import { type PropertyMap, property, toShown } from "../values/values.ts";
import { readSelectedStack, selectStack } from "../workspace/pulumiHome.ts";
import type { Stack, Workspace } from "../workspace/workspace.ts";
import { type GlobalOptions, openStack, openWorkspace, optionsOf } from "./globals.ts";
import { allowWords, refuseWords } from "./pulumi.ts";

interface Options {
  json?: boolean;
  output?: "default" | "json";
  create?: boolean;
  showSecrets?: boolean;
  file?: string;
  force?: boolean;
  yes?: boolean;
  select?: boolean;
}

export function addStackCommands(program: Command, terminal: Terminal): void {
  const stack = allowWords(program.command("stack"))
    .description("create, list, inspect and remove stacks")
    .option("-j, --json", "print JSON")
    .action((_, command: Command) => {
      refuseWords(command);
      return list(terminal, optionsOf<Options>(command));
    });
  stack
    .command("init")
    .aliases(["new", "create", "setup"])
    .description("create an empty stack")
    .argument("[name]", "its name; may be given with --stack as well")
    .option("--no-select", "don't select it")
    .action((name: string | undefined, _, command: Command) => init(terminal, name, optionsOf<Options>(command)));
  stack
    .command("ls")
    .alias("list")
    .description("list the project's stacks")
    .option("-j, --json", "print JSON")
    .addOption(new Option("--output <form>", "json prints JSON").choices(["default", "json"]))
    .action((_, command: Command) => list(terminal, optionsOf<Options>(command)));
  stack
    .command("select")
    .description("select the stack that commands use")
    .argument("[name]", "its name; may be given with --stack as well")
    .option("-c, --create", "create it if it does not exist")
    .action((name: string | undefined, _, command: Command) => select(terminal, name, optionsOf<Options>(command)));
  stack
    .command("output")
    .description("print the stack's outputs, or one of them")
    .argument("[name]")
    .option("-j, --json", "print JSON")
    .option("--show-secrets", "show secrets in plain text")
    .action((name: string | undefined, _, command: Command) => output(terminal, name, optionsOf<Options>(command)));
  stack
    .command("export")
    .description("print the state as JSON")
    .option("--file <file>", "write it to this file")
    .option("--show-secrets", "secrets in plain text instead of encrypted")
    .action((_, command: Command) => exportState(terminal, optionsOf<Options>(command)));
  stack
    .command("rm")
    .aliases(["remove", "delete"])
    .description("remove a stack that has no resources")
    .argument("[name]", "its name; may be given with --stack as well")
    .option("--force", "remove it even if it has resources, which stay where they are")
    .option("-y, --yes", "don't ask for confirmation")
    .action((name: string | undefined, _, command: Command) => remove(terminal, name, optionsOf<Options>(command)));
  program
    .command("cancel")
    .description("delete the locks of a stack whose engine is gone")
    .argument("[name]", "the stack; may be given with --stack as well")
    .option("-y, --yes", "don't ask for confirmation")
    .action((name: string | undefined, _, command: Command) => cancel(terminal, name, optionsOf<Options>(command)));
}

async function init(terminal: Terminal, name: string | undefined, options: Options & GlobalOptions): Promise<void> {
  const fullName = name ?? options.stack;
  if (fullName === undefined) throw new EngineError("name the stack: stack init <name>");
  await makeStack(terminal, fullName, options);
}

/** Makes an empty stack of the project in `options.cwd`, and the one that commands work on unless `select` is false. */
export async function makeStack(
  terminal: Terminal,
  name: string,
  options: Pick<Options, "select"> & Pick<GlobalOptions, "cwd" | "nonInteractive">,
): Promise<void> {
  await initStack(terminal, await openWorkspace(options, terminal), name, options.select);
}

/** Makes an empty stack, and the one that commands work on unless `select` is false. */
async function initStack(terminal: Terminal, workspace: Workspace, fullName: string, select = true): Promise<Stack> {
  const made = await workspace.init(fullName);
  const { project, environment } = workspace;
  if (select) await selectStack(project.name, project.file, environment, made.name);
  terminal.output.write(`Created stack '${made.name}'\n`);
  return made;
}

async function select(terminal: Terminal, name: string | undefined, options: Options & GlobalOptions): Promise<void> {
  const wanted = name ?? options.stack;
  if (wanted === undefined) throw new EngineError("name the stack: stack select <name>");
  const workspace = await openWorkspace(options, terminal);
  const { project, backend, environment } = workspace;
  const proper = workspace.stackName(wanted);
  if ((await backend.read(project.name, proper)) === undefined) {
    if (!options.create) throw await workspace.noSuchStack(proper);
    await initStack(terminal, workspace, proper);
    return;
  }
  await selectStack(project.name, project.file, environment, proper);
}

async function list(terminal: Terminal, options: Options & GlobalOptions): Promise<void> {
  const workspace = await openWorkspace(options, terminal);
  const { backend, project, environment } = workspace;
  const selected = environment["PULUMI_STACK"] || readSelectedStack(project.name, project.file, environment);
  const rows = await Promise.all(
    (await backend.stacks(project.name)).map(async (name) => {
      const { resources, lastUpdate } = summarize((await backend.read(project.name, name)) ?? "{}");
      const current = selected?.split("/").at(-1) === name;
      return {
        name,
        current,
        ...(lastUpdate === undefined ? {} : { lastUpdate }),
        resourceCount: resources,
      };
    }),
  );
  if (options.json || options.output === "json") {
    printJson(terminal, rows);
    return;
  }
  if (rows.length === 0) terminal.errors.write(`There is no stack yet: ${oneLine(workspace.firstStackHint)}\n`);
  const cells = [
    ["NAME", "LAST UPDATE", "RESOURCE COUNT"],
    ...rows.map((row) => [`${row.name}${row.current ? "*" : ""}`, row.lastUpdate ?? "n/a", String(row.resourceCount)]),
  ];
  const { printTable } = await import("../terminal/columns.ts");
  printTable(terminal, cells);
}

/** Summarizes a state for the list without decrypting it. */
function summarize(text: string): { resources: number; lastUpdate: string | undefined } {
  const state = JSON.parse(text) as {
    checkpoint?: { latest?: { manifest?: { time?: string }; resources?: unknown[] } };
  };
  const latest = state.checkpoint?.latest;
  return { resources: latest?.resources?.length ?? 0, lastUpdate: latest?.manifest?.time };
}

async function output(terminal: Terminal, name: string | undefined, options: Options & GlobalOptions): Promise<void> {
  const stack = await openStack(options, terminal);
  const outputs = await outputsOf(stack);
  const show = (value: PropertyMap[string]): unknown => toShown(value, options.showSecrets ?? false);
  if (name !== undefined) {
    const value = property(outputs, name);
    if (value === undefined) throw new EngineError(`current stack does not have output property '${name}'`);
    if (options.json) printJson(terminal, show(value));
    else printValue(terminal, plain(show(value)));
    return;
  }
  if (options.json) {
    printJson(terminal, show(outputs));
    return;
  }
  const names = Object.keys(outputs).sort();
  terminal.output.write(
    names.length === 0 ? "No output values currently in this stack\n" : `Current stack outputs (${names.length}):\n`,
  );
  const cells = names.map((each) => [`    ${each}`, plain(show(outputs[each] ?? null))]);
  const { printTable } = await import("../terminal/columns.ts");
  printTable(terminal, cells);
}

async function outputsOf(stack: Stack): Promise<PropertyMap> {
  const { resources } = await stack.read();
  return resources.find(({ type }) => type === stackType)?.outputs ?? {};
}

const plain = (value: unknown): string => (typeof value === "string" ? value : printableJson(value));

async function exportState(terminal: Terminal, options: Options & GlobalOptions): Promise<void> {
  const stack = await openStack(options, terminal);
  const text = `${printableJson(await stack.exported(options.showSecrets ?? false, new Date()), 4)}\n`;
  if (options.file === undefined) terminal.output.write(text);
  else {
    keepToOwner(options.file);
    writeFileSync(options.file, text, { mode: 0o600 });
  }
}

async function remove(terminal: Terminal, name: string | undefined, options: Options & GlobalOptions): Promise<void> {
  const stack = await openStack({ ...options, ...(name === undefined ? {} : { stack: name }) }, terminal);
  const { resources } = await stack.read();
  if (resources.length > 0 && !options.force) {
    throw new EngineError(
      `'${stack.name}' still has resources; removal rejected: run 'destroy' first, or give --force to leave them where they are`,
    );
  }
  await confirm(terminal, options, `This permanently removes the stack '${stack.name}'. Continue?`);
  const { backend, project } = stack.workspace;
  const lock = stack.lock();
  await lock.take((sentence) => terminal.errors.write(`${sentence}\n`));
  try {
    await backend.remove(project.name, stack.name);
    stack.file.remove();
  } finally {
    await lock.release();
  }
  terminal.output.write(`Stack '${stack.name}' has been removed!\n`);
}

async function cancel(terminal: Terminal, name: string | undefined, options: Options & GlobalOptions): Promise<void> {
  const workspace = await openWorkspace(options, terminal);
  const stack = await workspace.chosenStack(name ?? options.stack);
  const folder = workspace.backend.lockFolder(workspace.project.name, stack);
  const [running] = runningHolders(folder);
  if (running !== undefined) {
    throw new EngineError(
      `the stack '${stack}' is locked by a run of this machine that is still working (pid ${running}): wait for it, or end ` +
        `it with 'kill -INT ${running}', which saves what is done and removes the lock`,
    );
  }
  await confirm(
    terminal,
    options,
    `This lets another engine work on '${stack}' even if one is still running. Continue?`,
  );
  const count = await breakLocks(folder);
  terminal.output.write(
    count === 0 ? `The stack '${stack}' was not locked.\n` : `The lock of the stack '${stack}' has been deleted.\n`,
  );
}

async function confirm(terminal: Terminal, options: Options & GlobalOptions, question: string): Promise<void> {
  if (options.yes) return;
  if (!isInteractive(terminal, options.nonInteractive ?? false)) {
    throw new EngineError("--yes must be passed in to proceed when running in non-interactive mode");
  }
  if ((await ask(terminal, question, ["yes", "no"])) === "no") throw new EngineError("confirmation declined");
}
