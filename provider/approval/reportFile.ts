import { readFileSync, statSync } from "node:fs";
import { BoundError, checkJsonBounds } from "../../machine/settings/bounds.ts";
import { ApprovalError } from "./signature.ts";

/** Megabytes that a report may have. */
const maxMegabytes = 512;

/** Depth of a report; its values are bounded by its size. */
const bounds = { levels: 100, values: Infinity };

/** Reads a report as JSON. Throws an ApprovalError where it is none, or beyond its bounds. */
export function jsonOfReport(place: string): unknown {
  const text = textAt(place);
  try {
    checkJsonBounds(text, bounds);
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (error instanceof BoundError) throw new ApprovalError(`it has more than ${bounds.levels} levels`);
    throw new ApprovalError('it is not JSON: make it with "microapps report --format json"');
  }
}

/** Reports are kept outside of the tree, which other files must not be. */
function textAt(place: string): string {
  try {
    const found = statSync(place);
    if (!found.isFile()) throw new ApprovalError("it is no file");
    if (found.size > maxMegabytes * 2 ** 20) throw new ApprovalError(`it has more than ${maxMegabytes} MB`);
    return readFileSync(place, "utf8");
  } catch (error) {
    if (error instanceof ApprovalError) throw error;
    throw new ApprovalError(`it can't be read: ${(error as NodeJS.ErrnoException).code ?? "unknown"}`); // a system call
  }
}
