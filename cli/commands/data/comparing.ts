import path from "node:path";
import { EngineError, projectFolder } from "../../../engine/index.ts";
import { CommitError } from "../../changes/base/commits.ts";
import { DataRefusal } from "../../changes/base/dataRefusal.ts";
import { copyEdited, planPull } from "../../changes/pull/pull.ts";
import { compareContents, toComparison } from "../../changes/sides/comparison.ts";
import {
  declarationOf,
  parseSide,
  readDumpSide,
  readFilesSide,
  SideError,
  type ReadSide,
  type SideName,
} from "../../changes/sides/sides.ts";
import { deliver, statuses } from "../report/reporting.ts";
import type { ChangesOptions } from "./options.ts";
import { itemName } from "./pullText.ts";
import { findLive } from "./pulling.ts";

/** Compares two sides, writes what differs, and sets the exit status. */
export async function runChanges(from: string, to: string, options: ChangesOptions): Promise<void> {
  const cwd = path.resolve(options.cwd ?? ".");
  const sides: ReadSide[] = [];
  try {
    const [base, head] = [parseSide(from), parseSide(to)];
    for (const side of [base, head]) sides.push(await readSide(cwd, side));
    const [before, after] = sides;
    if (!before || !after) return;
    const found = await compareContents(before.declared, after.declared);
    const why = [before.why ?? [], after.why ?? [], found.why ?? []].flat().join("; ");
    const change = why === "" ? found : { ...found, why };
    deliver(toComparison(from, to, change), options, cwd);
    if (options.expectNoChanges && (change.things.length > 0 || change.why !== undefined))
      process.exitCode = statuses.changes;
  } catch (error) {
    if (error instanceof DataRefusal || error instanceof CommitError) throw new EngineError(error.message);
    throw error;
  } finally {
    for (const { remove } of sides) remove();
  }
}

/** A live environment: its files with everything taken into them that was changed by hand. */
async function readLiveSide(cwd: string, environment: string): Promise<ReadSide> {
  const { declared, items, look, waiting } = await findLive(cwd, environment, { foreign: true });
  if (!waiting.compared || waiting.things.length > 0) {
    const what = waiting.things.map(({ kind, name }) => `${kind} ${name}`).join(", ");
    throw new SideError(
      `live:${environment} can't be compared: its files have changes that are not applied (${waiting.why ?? what}): run up first`,
    );
  }
  if (look.unread.length > 0) throw new SideError(`live:${environment} can't be read: ${look.unread.join("; ")}`);
  const pulled = await planPull(items, declared);
  const copy = copyEdited(declared, pulled.files);
  const left = pulled.items.flatMap((item) => (item.refused === undefined ? [] : [itemName(item)]));
  const why = left.length === 0 ? {} : { why: `of live:${environment} ${left.join(", ")} is not compared (see pull)` };
  try {
    return { declared: declarationOf(declared.file, copy.folder, `live:${environment}`), ...why, remove: copy.remove };
  } catch (error) {
    copy.remove();
    throw error;
  }
}

async function readSide(cwd: string, side: SideName): Promise<ReadSide> {
  switch (side.kind) {
    case "files":
      return readFilesSide(projectFolder(cwd), side.environment, side.commit);
    case "dump":
      return readDumpSide(cwd, side.folder);
    case "live":
      return readLiveSide(cwd, side.environment);
  }
}
