import path from "node:path";
import { EngineError, projectFolder } from "../../../engine/index.ts";
import { CommitError } from "../../changes/base/commits.ts";
import { compareContents, toComparison } from "../../changes/sides/comparison.ts";
import {
  parseSide,
  readDumpSide,
  readFilesSide,
  SideError,
  type Side,
  type SideName,
} from "../../changes/sides/sides.ts";
import { deliver, statuses } from "../report/reporting.ts";
import type { ChangesOptions } from "./commands.ts";

/** Compares two sides, writes what differs, and sets the exit status. */
export async function runChanges(from: string, to: string, options: ChangesOptions): Promise<void> {
  const cwd = path.resolve(options.cwd ?? ".");
  const sides: Side[] = [];
  try {
    const [base, head] = [parseSide(from), parseSide(to)];
    for (const side of [base, head]) sides.push(await readSide(cwd, side));
    const [before, after] = sides;
    if (!before || !after) return;
    const change = await compareContents(before.declared, after.declared);
    deliver(toComparison(from, to, change), options, cwd);
    if (options.expectNoChanges && (change.things.length > 0 || change.why !== undefined))
      process.exitCode = statuses.changes;
  } catch (error) {
    if (error instanceof SideError || error instanceof CommitError) throw new EngineError(error.message);
    throw error;
  } finally {
    for (const { remove } of sides) remove();
  }
}

async function readSide(cwd: string, side: SideName): Promise<Side> {
  switch (side.kind) {
    case "files":
      return readFilesSide(projectFolder(cwd), side.environment, side.commit);
    case "dump":
      return readDumpSide(cwd, side.folder);
    case "live":
    case "snapshot":
      throw new SideError(`${side.kind}: is not compared yet`);
  }
}
