import { readFileSync, statSync } from "node:fs";
import { BoundError, checkJsonBounds } from "../../machine/settings/bounds.ts";
import { ApprovalError } from "./signature.ts";

/** Limits of a report; its values are bounded by its size. */
export const ofReports = { megabytes: 512, levels: 100, values: Infinity };

/** Reads a report as JSON. Throws an ApprovalError where it is none, or beyond its bounds. */
export function jsonOfReport(place: string, limits = ofReports): unknown {
  const text = textAt(place, limits.megabytes);
  try {
    checkJsonBounds(text, limits);
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (error instanceof BoundError) throw new ApprovalError(`it has more than ${limits.levels} levels`);
    throw new ApprovalError('it is not JSON: make it with "microapps report --format json"');
  }
}

/** Reports are kept outside of the tree, which other files must not be. */
function textAt(place: string, megabytes: number): string {
  try {
    const found = statSync(place);
    if (!found.isFile()) throw new ApprovalError("it is no file");
    if (found.size > megabytes * 2 ** 20) throw new ApprovalError(`it has more than ${megabytes} MB`);
    return readFileSync(place, "utf8");
  } catch (error) {
    if (error instanceof ApprovalError) throw error;
    throw new ApprovalError(`it can't be read: ${(error as NodeJS.ErrnoException).code ?? "unknown"}`); // a system call
  }
}
