import { readFileSync } from "node:fs";
import { EngineError } from "../../../engine/index.ts";
import { textOrReason } from "../../files/files.ts";

/** Megabytes that a state, a report or a log of events may have. */
const mostOfState = 512;

/** The text of a file that a flag names, opened by the rules for files that a branch names. */
export function textOf(cwd: string, file: string): string {
  if (file === "-") return readFileSync(process.stdin.fd, "utf8");
  const found = textOrReason(cwd, file, mostOfState);
  if ("text" in found) return found.text;
  throw new EngineError(`${file} can't be read: ${found.reason}`);
}
