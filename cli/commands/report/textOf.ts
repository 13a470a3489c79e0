import { EngineError } from "../../../engine/index.ts";
import { textOf as textOfStream } from "../../../platform/contract/wire.ts";
import { textOrReason } from "../../../provider/files/files.ts";

/** Megabytes that a state, a report or a log of events may have. */
export const maxMegabytesOfState = 512;

/** Reads the file that a flag names, by the rules for files that a branch names; `-` is standard input, however slow. */
export async function textOf(
  cwd: string,
  file: string,
  megabytes = maxMegabytesOfState,
  input: AsyncIterable<Uint8Array> = process.stdin,
): Promise<string> {
  if (file === "-") {
    const text = await textOfStream(input, megabytes);
    if (text !== undefined) return text;
    throw new EngineError(`standard input has more than ${megabytes} MB`);
  }
  const found = textOrReason(cwd, file, megabytes);
  if ("text" in found) return found.text;
  throw new EngineError(`${file} can't be read: ${found.reason}`);
}
