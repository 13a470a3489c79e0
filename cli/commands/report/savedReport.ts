import { existsSync } from "node:fs";
import path from "node:path";
import { EngineError } from "../../../engine/index.ts";
import { otherForm } from "../../../provider/approval/approved.ts";
import { jsonOfReport } from "../../../provider/approval/reportFile.ts";
import { hasOtherForm } from "../../../provider/approval/seal.ts";
import { ApprovalError } from "../../../provider/approval/signature.ts";
import { changeSet, type ChangeSet } from "../../changes/model/changeSet.ts";

/** The exit status of a report that can't be believed, as docs/exit-statuses.md has it. */
const notBelieved = 2;

/** A report that was written with --format json. */
export function readSavedReport(cwd: string, file: string): ChangeSet {
  const raw = jsonAt(path.resolve(cwd, file), file);
  if (hasOtherForm(raw)) throw new EngineError(`${file}: ${otherForm}`, notBelieved);
  const report = changeSet.safeParse(raw);
  if (report.success && report.data.kind === "report") return report.data;
  throw new EngineError(
    `${file} is no report of this version: make it with "microapps report --format json"`,
    notBelieved,
  );
}

function jsonAt(place: string, file: string): unknown {
  try {
    return jsonOfReport(place);
  } catch (error) {
    if (!(error instanceof ApprovalError)) throw error;
    throw new EngineError(`${file}: ${error.message}`, existsSync(place) ? notBelieved : 1);
  }
}
