import path from "node:path";
import { EngineError, projectFolder } from "../../../engine/index.ts";
import { copyEdited } from "../../between/placing.ts";
import { planPull } from "../../between/pull.ts";
import { CommitError } from "../../changes/base/commits.ts";
import { DataRefusal } from "../../changes/base/dataRefusal.ts";
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
import { findLive } from "./pulling.ts";
import { itemName } from "./pullText.ts";
import { readSnapshotSide } from "./snapshots.ts";

/** Compares two sides, writes what differs, and sets the exit status. */
export async function runChanges(from: string, to: string, options: ChangesOptions): Promise<void> {
  const cwd = path.resolve(options.cwd ?? ".");
  const sides: ReadSide[] = [];
  try {
    const [base, head] = [parseSide(from), parseSide(to)];
    const read = await readSides(cwd, base, head, sides);
    const [before, after] = read;
    const found = await compareContents(
      before.declared,
      after.declared,
      read.some((side) => side.isPlatform),
    );
    const why = [before.why ?? [], after.why ?? [], found.why ?? []].flat().join("; ");
    const change = why === "" ? found : { ...found, why };
    const notes = read.flatMap((side) => side.notes ?? []);
    deliver(toComparison(from, to, change, notes), options, cwd);
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

/** Reads both sides, a snapshot by what the other one declares. `opened` gets each one as soon as it was read. */
async function readSides(
  cwd: string,
  base: SideName,
  head: SideName,
  opened: ReadSide[],
): Promise<[before: ReadSide, after: ReadSide]> {
  const read = async (side: SideName, like?: ReadSide): Promise<ReadSide> => {
    const found = await readSide(cwd, side, like);
    opened.push(found);
    return found;
  };
  if (base.kind === "snapshot") {
    const after = await read(head);
    return [await read(base, after), after];
  }
  const before = await read(base);
  return [before, await read(head, before)];
}

async function readSide(cwd: string, side: SideName, like: ReadSide | undefined): Promise<ReadSide> {
  switch (side.kind) {
    case "files":
      return readFilesSide(projectFolder(cwd), side.environment, side.commit);
    case "dump":
      return readDumpSide(cwd, side.folder);
    case "live":
      return readLiveSide(cwd, side.environment);
    case "snapshot":
      if (like) return readSnapshotSide(cwd, side.file, like.declared);
      throw new SideError("a snapshot is read by what the other side declares: compare it with an environment");
  }
}
