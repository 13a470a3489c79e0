import { existsSync, writeFileSync } from "node:fs";
import path from "node:path";
import { openWorkspace, type GlobalOptions } from "../../../engine/cli/globals.ts";
import { initStack } from "../../../engine/cli/stacks.ts";
import {
  ask,
  EngineError,
  projectFolder,
  readTyped,
  setConfig,
  type Stack,
  type Terminal,
} from "../../../engine/index.ts";
import { secretKeys } from "../../../provider/pulumi/configuration/configuration.ts";
import { readVariable } from "../../../provider/pulumi/configuration/keys.ts";
import { readOwnSettings } from "../settings.ts";
import { command } from "./mending.ts";
import type { Subject, Typed } from "./subject.ts";

/** Settings to ask for, in this order. */
const asked = [
  ["endpoint", "Address of the platform (https://…): "],
  ["email", "E-mail address to log in with: "],
  ["password", "Password (not shown): "],
] as const;

const isSecret = (key: string): boolean => (secretKeys as readonly string[]).includes(key);

/** Asks for the missing settings. */
export async function typeSettings(terminal: Terminal, { finding, stack }: Subject): Promise<Typed["values"]> {
  terminal.output.write(`${finding.seen}\n`);
  const known = stack === undefined ? {} : readOwnSettings(stack);
  const has = (key: string): boolean => Boolean(known[key]?.text || readVariable(terminal.environment, key));
  const typed: Record<string, string> = {};
  for (const [key, question] of asked) {
    if (has(key) || (key !== "endpoint" && has("token"))) continue;
    const text = await readTyped(terminal, question, isSecret(key));
    typed[key] = isSecret(key) ? text : text.trim();
  }
  return typed;
}

/** Writes what was typed as `config set` does, if the person wants that; a project and a stack are made where there is none. */
export async function offerToWrite(terminal: Terminal, options: GlobalOptions, typed: Typed): Promise<void> {
  const cwd = path.resolve(options.cwd ?? ".");
  const project = projectFile(cwd);
  const what =
    project === undefined
      ? "Make a project here (Pulumi.yaml), and write this as the configuration of a stack?"
      : "Write this as the configuration of a stack?";
  if ((await ask(terminal, what, ["yes", "no"])) === "no") return;
  if (project === undefined) {
    writeFileSync(path.join(cwd, "Pulumi.yaml"), newProject(path.basename(cwd)), { flag: "wx" });
    terminal.output.write("Made Pulumi.yaml.\n");
  }
  const stack = typed.stack ?? (await stackFor(terminal, options));
  for (const [key, text] of Object.entries(typed.values))
    setConfig(stack, `microapps:${key}`, text, { secret: isSecret(key) });
  const next = command({ stack: stack.name, cwd: options.cwd, environment: terminal.environment }, "doctor");
  terminal.output.write(`Wrote ${path.basename(stack.file.file)}; secrets are encrypted. Next time: ${next}\n`);
}

function projectFile(cwd: string): string | undefined {
  try {
    return projectFolder(cwd);
  } catch (error) {
    if (!(error instanceof EngineError) || existsSync(path.join(cwd, "Pulumi.yaml"))) throw error;
    return undefined;
  }
}

/** As the README has it. */
const newProject = (
  folder: string,
): string => `name: ${folder.replaceAll(/[^\w.-]/g, "-").replace(/^\.+/, "") || "project"}
runtime:
  name: nodejs
  options:
    typescript: false # Node runs TypeScript itself
# main: index.ts # once there is a program
backend:
  url: file://. # keeps the state in .pulumi
`;

/** The stack that is named or typed, made where it is missing. */
async function stackFor(terminal: Terminal, options: GlobalOptions): Promise<Stack> {
  const name = options.stack ?? ((await readTyped(terminal, "Name of the stack (dev): ", false)).trim() || "dev");
  const workspace = await openWorkspace(options, terminal);
  const names = await workspace.backend.stacks(workspace.project.name);
  if (names.includes(workspace.stackName(name))) return workspace.stack(name);
  return initStack(terminal, workspace, name);
}
