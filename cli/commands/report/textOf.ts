import { text as readStream } from "node:stream/consumers";
import { EngineError } from "../../../engine/index.ts";
import { textOrReason } from "../../../provider/files/files.ts";

/** Megabytes that a state, a report or a log of events may have. */
const mostOfState = 512;

/** Reads the file that a flag names, by the rules for files that a branch names; `-` is standard input, however slow. */
export async function textOf(cwd: string, file: string): Promise<string> {
  if (file === "-") return readStream(process.stdin);
  const found = textOrReason(cwd, file, mostOfState);
  if ("text" in found) return found.text;
  throw new EngineError(`${file} can't be read: ${found.reason}`);
}
