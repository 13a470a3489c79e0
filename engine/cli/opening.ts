import { EngineError } from "../errors.ts";
import type { RunKind } from "../events.ts";
import type { Terminal } from "../terminal/prompts.ts";
import type { Project } from "../workspace/project.ts";
import { refuseOtherVersion } from "../workspace/pulumiVersion.ts";
import type { Stack } from "../workspace/workspace.ts";
import { type GlobalOptions, openStack } from "./globals.ts";

type Options = GlobalOptions & { json?: boolean; output?: string };

/** True if a program reads what is printed. */
export const isForPrograms = ({ json, output }: Pick<Options, "json" | "output">): boolean =>
  json === true || output === "json";

/**
 * Opens the stack of a run. While its key is derived, the engine loads and the process of an update's program starts.
 * @param onFound called before that with the stack's name, where the project is not refused
 */
export async function openForRun(
  kind: RunKind,
  options: Options,
  terminal: Terminal,
  onFound: (stack: string) => void = () => undefined,
): Promise<Stack> {
  if (options.json && options.output !== undefined)
    throw new EngineError("--json and --output cannot be used together");
  const load = async (project: Project, stack: string): Promise<void> => {
    refuseOther(project);
    onFound(stack);
    if (kind === "update" && project.runtime === "nodejs")
      (await import("../program/languageHost.ts")).warmUpProgram(project, terminal.environment);
    await import("./running.ts");
  };
  // A failure here comes again, and is reported, when it runs.
  const stack = await openStack(options, terminal, (...of) => void load(...of).catch(() => undefined));
  refuseOther(stack.project);
  return stack;
}

/** Refuses a project that asks for other versions of Pulumi. */
function refuseOther({ file, requiredVersion }: Project): void {
  if (requiredVersion !== undefined) refuseOtherVersion(requiredVersion, `${file}: requiredPulumiVersion`);
}

/** Ends the process of a program whose run was refused before it began. */
export async function endWaitingProgram(): Promise<void> {
  (await import("../program/languageHost.ts")).endWaitingProgram();
}
