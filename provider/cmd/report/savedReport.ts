import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import { EngineError } from "../../../engine/index.ts";
import { otherForm } from "../../approval/approved.ts";
import { hasOtherForm } from "../../approval/seal.ts";
import { changeSet, type ChangeSet } from "../../changes/model/changeSet.ts";

/** The exit status of a report that can't be believed, as docs/exit-statuses.md has it. */
const notBelieved = 2;

/** Megabytes that a report may have. */
const mostOfReport = 512;

/** Reports are kept outside of the tree, which other files must not be. */
function textAt(place: string, file: string): string {
  try {
    const found = statSync(place);
    if (!found.isFile()) throw new EngineError(`${file} is no file`);
    if (found.size > mostOfReport * 2 ** 20) throw new EngineError(`${file} has more than ${mostOfReport} MB`);
    return readFileSync(place, "utf8");
  } catch (error) {
    if (error instanceof EngineError) throw error;
    throw new EngineError(`${file} can't be read: ${(error as NodeJS.ErrnoException).code ?? "unknown"}`); // a system call
  }
}

/** A report that was written with --format json. */
export function readSavedReport(cwd: string, file: string): ChangeSet {
  const text = textAt(path.resolve(cwd, file), file);
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    raw = undefined;
  }
  if (hasOtherForm(raw)) throw new EngineError(`${file}: ${otherForm}`, notBelieved);
  const report = changeSet.safeParse(raw);
  if (report.success && report.data.kind === "report") return report.data;
  throw new EngineError(
    `${file} is no report of this version: make it with "microapps report --format json"`,
    notBelieved,
  );
}
