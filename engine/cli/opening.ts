import { heading } from "../display/words.ts";
import { EngineError } from "../errors.ts";
import type { RunKind } from "../events.ts";
import { allowsColor, createPaint, headline } from "../terminal/colors.ts";
import { isPipeline, withoutCommands } from "../terminal/pipelines.ts";
import type { Terminal } from "../terminal/prompts.ts";
import type { Project } from "../workspace/project.ts";
import { refuseOtherVersion } from "../workspace/pulumiVersion.ts";
import type { Stack } from "../workspace/workspace.ts";
import { type GlobalOptions, openStack } from "./globals.ts";

type Options = GlobalOptions & { json?: boolean; output?: string };

/** True if a program reads what is printed. */
export const isForPrograms = ({ json, output }: Options): boolean => json === true || output === "json";

/** Writes text on a terminal, in a pipeline without what that would take for commands. */
export const writeOn =
  (stream: NodeJS.WritableStream, { environment }: Terminal) =>
  (text: string): void =>
    void stream.write(isPipeline(environment) ? withoutCommands(text) : text);

/**
 * Opens the stack of a run that begins with a preview or not. While its key is derived, the engine loads, and for an update
 * the headline is printed and the process of the program starts.
 */
export async function openForRun(
  kind: RunKind,
  preview: boolean,
  options: Options,
  terminal: Terminal,
): Promise<{ stack: Stack; isHeaded: boolean }> {
  if (options.json && options.output !== undefined)
    throw new EngineError("--json and --output cannot be used together");
  const isHeaded = kind === "update" && !isForPrograms(options);
  const { output, environment } = terminal;
  const load = async (project: Project, stack: string): Promise<void> => {
    if (isHeaded) {
      const paint = createPaint(allowsColor(options.color, environment, output.isTTY));
      writeOn(output, terminal)(`${paint(headline, heading(kind, preview, stack))}\n`);
    }
    if (kind === "update" && project.runtime === "nodejs")
      (await import("../program/languageHost.ts")).warmUpProgram(project, environment);
    await import("./running.ts");
  };
  // A failure here comes again, and is reported, when it runs.
  const stack = await openStack(options, terminal, (...of) => void load(...of).catch(() => undefined));
  const { file, requiredVersion } = stack.project;
  if (requiredVersion !== undefined) refuseOtherVersion(requiredVersion, `${file}: requiredPulumiVersion`);
  return { stack, isHeaded };
}

/** Ends the process of a program whose run was refused before it began. */
export async function endWaitingProgram(): Promise<void> {
  (await import("../program/languageHost.ts")).endWaitingProgram();
}
