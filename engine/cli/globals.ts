import type { Command } from "commander";
import path from "node:path";
import { EngineError } from "../errors.ts";
import type { ColorChoice } from "../terminal/colors.ts";
import { isInteractive, readTyped, type Terminal } from "../terminal/prompts.ts";
import type { Stack, Workspace } from "../workspace/workspace.ts";

export interface GlobalOptions {
  cwd?: string;
  stack?: string;
  color: ColorChoice;
  nonInteractive?: boolean;
}

/** Reads the options of the program and of the command together. */
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- each command knows its own options
export const optionsOf = <Options>(command: Command): Options & GlobalOptions => command.optsWithGlobals();

export async function openWorkspace(
  globals: Pick<GlobalOptions, "cwd" | "nonInteractive">,
  terminal: Terminal,
): Promise<Workspace> {
  // Loaded when it is needed: commands that have no stack are to start fast.
  const { Workspace } = await import("../workspace/workspace.ts");
  const asks = isInteractive(terminal, globals.nonInteractive ?? false);
  return Workspace.open({
    cwd: path.resolve(globals.cwd ?? "."),
    environment: terminal.environment,
    ...(asks ? { askPassphrase: (isNew) => askPassphrase(terminal, isNew) } : {}),
  });
}

/** Asks for the passphrase, which is not shown; for a new one twice. */
async function askPassphrase(terminal: Terminal, isNew: boolean): Promise<string> {
  const purpose = isNew ? "to protect the secrets of the stack" : "to unlock the secrets of the stack";
  const typed = await readTyped(terminal, `Enter your passphrase ${purpose}: `, true);
  if (isNew && (await readTyped(terminal, "Enter it again: ", true)) !== typed) {
    throw new EngineError("the passphrases differ: nothing was created");
  }
  return typed;
}

export async function openStack(globals: GlobalOptions, terminal: Terminal): Promise<Stack> {
  const workspace = await openWorkspace(globals, terminal);
  return workspace.stack(globals.stack);
}
