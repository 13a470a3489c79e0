import type { Command } from "commander";
import path from "node:path";
import { EngineError, printable, printableJson, projectFolder } from "../../engine/index.ts";

/** Flags of promote. */
interface PromoteOptions {
  cwd?: string;
  only?: string[];
  ours?: string[];
  theirs?: string[];
  write?: boolean;
  dirty?: boolean;
  json?: boolean;
}

/** The exit status of conflicts, as docs/exit-statuses.md has it. */
const conflicting = 2;

/** Adds the command that brings changes of one environment into another. */
export function addPromoteCommand(program: Command): void {
  program
    .command("promote")
    .description("bring what one environment has changed into another")
    .argument("<from>", "the environment that has the changes")
    .argument("<to>", "the environment that gets them")
    .option("--only <names...>", "these things or rows alone (countries, countries/DE)")
    .option("--ours <names...>", "keep what <to> has where these conflict")
    .option("--theirs <names...>", "take what <from> has where these conflict")
    .option("--write", "write the files, and promotions.yaml")
    .option("--dirty", "go on although files are not committed")
    .option("-j, --json", "print it as JSON")
    .action((from: string, to: string, _, own: Command) => run(from, to, own.optsWithGlobals<PromoteOptions>()));
}

/** Promotes, prints what is or would be written, and sets the exit status. */
async function run(from: string, to: string, options: PromoteOptions): Promise<void> {
  const { cwd = ".", only = [], ours = [], theirs = [] } = options;
  const { write = false, dirty = false, json = false } = options;
  const both = ours.find((name) => theirs.includes(name));
  if (both !== undefined) throw new EngineError(`--ours and --theirs both name ${both}: give it to one of them`);
  // Loaded when they are needed: the emulator is to start fast.
  const { promote, isPromotionRefusal } = await import("../between/promotion/promote.ts");
  const { renderPromotion, toPromotionJson } = await import("../between/promotion/rendering.ts");
  const folder = projectFolder(path.resolve(cwd));
  try {
    const promoted = await promote({ folder, from, to, only, ours, theirs, write, dirty });
    process.stdout.write(
      json ? `${printableJson(toPromotionJson(promoted), 2)}\n` : printable(renderPromotion(promoted), false),
    );
    if (promoted.conflicts.length > 0) process.exitCode = conflicting;
  } catch (error) {
    throw isPromotionRefusal(error) ? new EngineError(error.message) : error;
  }
}
