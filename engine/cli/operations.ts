import { type Command, InvalidArgumentError, Option } from "commander";
import { keepMemorySmall } from "../../machine/processes.ts";
import { hasChanges, type RunResult } from "../deployment/result.ts";
import { heading } from "../display/words.ts";
import { EngineError, exitStatuses } from "../errors.ts";
import type { Emit, RunKind, StepInfo } from "../events.ts";
import type { RunOptions } from "../execute.ts";
import type { HostProgram } from "../program/hostedProgram.ts";
import type { HostProvider } from "../providers/starting.ts";
import { allowsColor, createPaint, headline } from "../terminal/colors.ts";
import { ask, isInteractive, type Terminal } from "../terminal/prompts.ts";
import { writeOn } from "../terminal/text.ts";
import type { Stack } from "../workspace/workspace.ts";
import { type GlobalOptions, openWorkspace, optionsOf } from "./globals.ts";

interface Options {
  yes?: boolean;
  skipPreview?: boolean;
  previewOnly?: boolean;
  diff?: boolean;
  json?: boolean;
  output?: "default" | "json";
  refresh?: boolean;
  expectNoChanges?: boolean;
  parallel?: number;
  clearPendingCreates?: boolean;
  plan?: string;
}

/** Descriptions of resources that only their provider can give. */
export interface Descriptions {
  /** Begins a run, then describes the contents of each resource that is deleted, in the order of the steps. */
  sizes?: () => (step: StepInfo) => string | undefined;
  /** Begins a preview: takes its steps, and then describes what may be meant otherwise. */
  hints?: () => { take: (step: StepInfo) => void; hints: () => readonly { urn: string; message: string }[] };
  host?: HostProvider;
  /** Describes the run of a stack by one digest of all that decides it; undefined where nobody can. */
  plan?: (
    stack: Stack,
  ) => Promise<{ digest: string; differsFrom: (expected: string) => string | undefined } | undefined>;
  hostProgram?: HostProgram;
}

/** A command that runs, with what its caller knows. */
interface Given {
  terminal: Terminal;
  options: Options & GlobalOptions;
  descriptions: Descriptions;
}

export function addOperations(program: Command, terminal: Terminal, descriptions: Descriptions = {}): void {
  const doing = (work: (given: Given) => Promise<void>) => (_: unknown, command: Command) =>
    work({ terminal, descriptions, options: optionsOf<Options>(command) });
  const operation = (name: string, description: string): Command =>
    program
      .command(name)
      .description(description)
      .option("--diff", "show below each resource how its properties change")
      .option("-j, --json", "print one JSON object a line, for each event")
      .addOption(
        new Option("--output <form>", "json prints one line at the end, in the form of the Pulumi CLI").choices([
          "default",
          "json",
        ]),
      )
      .option(
        "-p, --parallel <number>",
        "how many resources are processed at a time (default: 4 for each core, at least 32)",
        positive,
      )
      .option("--expect-no-changes", "fail when anything changes");
  const confirmed = (command: Command): Command =>
    command.option("-y, --yes", "don't ask for confirmation").option("-f, --skip-preview", "skip the preview");
  const refreshing = (command: Command): Command =>
    command.option(
      "-r, --refresh [flag]",
      "read every resource first (default: as 'options: {refresh: always}' in Pulumi.yaml says)",
      flag,
    );

  refreshing(operation("preview", "show what an update would change")).alias("pre").action(doing(preview));
  refreshing(confirmed(operation("up", "create, change and delete as the files or the program say")))
    .option("--plan <digest>", "do it only if this is the plan that report or preview printed: sha256:…")
    .alias("update")
    .action(doing((given) => change(given, "update")));
  confirmed(operation("refresh", "update the state to what is on the platform"))
    .option("--preview-only", "only show what would be updated")
    .option("--clear-pending-creates", "drop interrupted creations from the state")
    .action(doing((given) => change(given, "refresh")));
  refreshing(confirmed(operation("destroy", "delete everything in the stack")))
    .option("--preview-only", "only show what would be deleted")
    .aliases(["down", "dn"])
    .action(doing((given) => change(given, "destroy")));
}

function positive(text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1) throw new InvalidArgumentError("must be a whole number from 1");
  return number;
}

function flag(text: string): boolean {
  if (!["true", "1", "false", "0"].includes(text)) throw new InvalidArgumentError("must be true or false");
  return text === "true" || text === "1";
}

/** True if a program reads what is printed. */
const isForPrograms = ({ json, output }: Pick<Options, "json" | "output">): boolean =>
  json === true || output === "json";

/** The parts of the engine that a run needs. Loaded when they are needed: other commands are to start fast. */
const loaded = () => Promise.all([import("../display/display.ts"), import("../execute.ts")]);

/**
 * Opens the stack of a run. While its key is derived, the engine loads.
 * @param onFound called before that with the stack's name
 */
async function openForRun(
  { options, terminal }: Given,
  onFound: (stack: string) => void = () => undefined,
): Promise<Stack> {
  if (options.json && options.output !== undefined)
    throw new EngineError("--json and --output cannot be used together");
  const workspace = await openWorkspace(options, terminal);
  const { file, requiredVersion, name } = workspace.project;
  if (requiredVersion !== undefined) {
    const { refuseOtherVersion } = await import("../providers/packageVersions.ts");
    refuseOtherVersion(requiredVersion, `${file}: requiredPulumiVersion`);
  }
  const chosen = await workspace.chosenStack(options.stack);
  const state = await workspace.backend.read(name, chosen);
  if (state !== undefined) onFound(chosen);
  if (state && state.length >= 400_000) keepMemorySmall(15); // of some 500 resources
  const [stack] = await Promise.all([workspace.stack(chosen), loaded()]);
  return stack;
}

async function preview(given: Given): Promise<void> {
  const { terminal, options } = given;
  const isHeaded = !isForPrograms(options); // at once; an update has its headline once no lock refuses it
  const stack = await openForRun(given, (name) => {
    const paint = createPaint(allowsColor(options.color, terminal.environment, terminal.output.isTTY));
    if (isHeaded) writeOn(terminal.output, terminal.environment)(`${paint(headline, heading("update", true, name))}\n`);
  });
  const plan = await given.descriptions.plan?.(stack);
  const result = await withInterrupts(terminal, (signal) =>
    perform(given, stack, { kind: "update", preview: true, signal }, { isHeaded, plan: plan?.digest }),
  );
  conclude(result, options, "proposed");
}

async function change(given: Given, kind: RunKind): Promise<void> {
  const { terminal, options, descriptions } = given;
  const interactive = isInteractive(terminal, options.nonInteractive ?? false) && !isForPrograms(options);
  const confirmed = options.yes || options.skipPreview || options.previewOnly;
  if (!confirmed && !interactive) {
    throw new EngineError(
      "--yes or --skip-preview must be passed in to proceed when running in non-interactive mode",
      kind === "refresh" ? exitStatuses.failed : exitStatuses.wronglyCalled,
    );
  }
  const contrary = options.yes ? "--yes" : options.skipPreview ? "--skip-preview" : undefined;
  if (options.previewOnly && contrary !== undefined)
    throw new EngineError(`${contrary} and --preview-only cannot be used together`);
  const stack = await openForRun(given);
  const lock = stack.lock();
  await lock.take((sentence) => terminal.errors.write(`${sentence}\n`));
  try {
    if (options.plan !== undefined) await refuseOtherPlan(stack, options.plan, descriptions.plan);
    if (kind === "destroy" && !isForPrograms(options)) {
      const { resources, operations } = await stack.read();
      if (resources.length + operations.length === 0) {
        terminal.output.write(`The stack '${stack.name}' has no resources: there is nothing to destroy.\n`);
        return;
      }
    }
    await withInterrupts(terminal, async (signal) => {
      if (!options.skipPreview) {
        const planned = await perform(given, stack, { kind, preview: true, signal });
        if (options.previewOnly || !planned.succeeded) {
          conclude(planned, options.previewOnly ? options : {}, "proposed");
          return;
        }
        if (!options.yes && !(await isConfirmed(given, stack, kind, signal))) {
          throw new EngineError(`confirmation declined, not proceeding with the ${kind}`, exitStatuses.cancelled);
        }
      }
      conclude(await perform(given, stack, { kind, preview: false, signal }), options, "occurred");
    });
  } finally {
    await lock.release();
  }
}

/** Refuses a run that is not the one of a digest, before anything is sent. */
async function refuseOtherPlan(stack: Stack, expected: string, describe: Descriptions["plan"]): Promise<void> {
  const plan = await describe?.(stack);
  const why = plan
    ? plan.differsFrom(expected)
    : "the plan of this stack can't be determined: its Environment file is wrong, or neither Pulumi.yaml nor environments.yaml names one";
  if (why !== undefined) throw new EngineError(why, exitStatuses.wronglyCalled);
}

async function isConfirmed(given: Given, stack: Stack, kind: RunKind, signal: AbortSignal): Promise<boolean> {
  const question = `Do you want to perform this ${kind}?`;
  const detailed = { ...given, options: { ...given.options, diff: true } };
  for (;;) {
    const answer = await ask(given.terminal, question, ["yes", "no", "details"]);
    if (answer !== "details") return answer === "yes";
    await perform(detailed, stack, { kind, preview: true, signal });
  }
}

/** Events of a run: deletions with what goes, and a preview with hints and its digest. */
function described(emit: Emit, { sizes, hints }: Descriptions, preview: boolean, plan: string | undefined): Emit {
  let sizeOf: ReturnType<NonNullable<Descriptions["sizes"]>> | undefined;
  const watch = preview ? hints?.() : undefined;
  return (event) => {
    if (event.type === "step") watch?.take(event);
    if (event.type === "summary") {
      for (const hint of watch?.hints() ?? []) emit({ type: "log", severity: "warning", ...hint });
      emit(plan !== undefined && event.result === "succeeded" ? { ...event, plan } : event);
      return;
    }
    const size = "op" in event && event.op === "delete" ? (sizeOf ??= sizes?.())?.(event) : undefined;
    emit(size !== undefined && "op" in event ? { size, ...event } : event);
  };
}

async function perform(
  { terminal, options, descriptions }: Given,
  stack: Stack,
  run: Pick<RunOptions, "kind" | "preview" | "signal">,
  { isHeaded = false, plan }: { isHeaded?: boolean; plan?: string | undefined } = {},
): Promise<RunResult> {
  const { output, errors } = terminal;
  const [{ createDisplay }, { execute }] = await loaded();
  const display = createDisplay({
    form: options.json ? "events" : options.output === "json" ? "summary" : "text",
    diff: options.diff ?? false,
    interactive: isInteractive(terminal, options.nonInteractive ?? false),
    color: allowsColor(options.color, terminal.environment, output.isTTY),
    isHeaded,
    write: writeOn(output, terminal.environment),
    writeError: writeOn(errors, terminal.environment),
    width: () => output.columns || 80,
  });
  const { host, hostProgram } = descriptions;
  const { refresh, parallel, clearPendingCreates } = options;
  try {
    return await execute(stack, {
      ...{ ...run, host, hostProgram, refresh, parallel, clearPendingCreates },
      emit: described(display.emit, descriptions, run.preview, plan),
    });
  } finally {
    display.close();
  }
}

/** Sets the exit status; the display has shown what went wrong. */
function conclude(result: RunResult, { expectNoChanges }: Options, outcome: "proposed" | "occurred"): void {
  if (!result.succeeded) process.exitCode = 1;
  else if (expectNoChanges && hasChanges(result)) {
    const did = outcome === "proposed" ? "were proposed" : "occurred";
    throw new EngineError(`no changes were expected but changes ${did}`, exitStatuses.unexpectedChanges);
  }
}

/** Runs with a signal for Ctrl-C: the first lets running steps end and saves them, the second exits at once. */
async function withInterrupts<Result>(
  terminal: Terminal,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  const interrupt = (): void => {
    if (controller.signal.aborted) process.exit(1);
    terminal.errors.write(
      "\nInterrupted: operations in progress will complete and be saved, and no others will start. Interrupt again to stop at once, which may " +
        "leave resources that the state does not know.\n",
    );
    controller.abort();
  };
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const name of signals) process.on(name, interrupt);
  try {
    return await work(controller.signal);
  } finally {
    for (const name of signals) process.off(name, interrupt);
  }
}
