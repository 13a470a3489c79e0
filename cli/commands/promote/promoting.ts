import path from "node:path";
import { EngineError, printable, printableJson, projectFolder } from "../../../engine/index.ts";
import { CommitError } from "../../changes/base/commits.ts";
import { DataRefusal } from "../../changes/base/dataRefusal.ts";
import { WriteError } from "../../edits/writing.ts";
import { promote } from "../../promotion/promote.ts";
import { renderPromotion, toPromotionJson } from "../../promotion/rendering.ts";

/** Flags of promote. */
export interface PromoteOptions {
  cwd?: string;
  only?: string[];
  ours?: string[];
  theirs?: string[];
  conflicts: "cell" | "row";
  write?: boolean;
  fold?: boolean;
  dirty?: boolean;
  json?: boolean;
}

/** The exit status of conflicts, as docs/exit-statuses.md has it. */
const conflicting = 2;

/** Promotes, prints what is or would be written, and sets the exit status. */
export async function runPromote(from: string, to: string, options: PromoteOptions): Promise<void> {
  const {
    only = [],
    ours = [],
    theirs = [],
    conflicts,
    write = false,
    fold = false,
    dirty = false,
    json = false,
  } = options;
  const both = ours.find((name) => theirs.includes(name));
  if (both !== undefined) throw new EngineError(`--ours and --theirs both name ${both}: give it to one of them`);
  const folder = projectFolder(path.resolve(options.cwd ?? "."));
  try {
    const promoted = await promote({ folder, from, to, only, ours, theirs, conflicts, write, fold, dirty });
    process.stdout.write(
      json ? `${printableJson(toPromotionJson(promoted), 2)}\n` : printable(renderPromotion(promoted), false),
    );
    if (promoted.conflicts.length > 0) process.exitCode = conflicting;
  } catch (error) {
    if (error instanceof DataRefusal || error instanceof CommitError || error instanceof WriteError)
      throw new EngineError(error.message);
    throw error;
  }
}
