import { isUtf8 } from "node:buffer";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { messageOf } from "../../machine/failures.ts";
import { mergeTexts } from "./mergeTexts.ts";
import { UnreadableRows, type Marks } from "./rowTexts.ts";
import { projectFolders, seedFilesIn } from "./seedFiles.ts";

/** A merge of one file, as Git asks for it. */
export interface DriverCall {
  /** The top of the repository. */
  root: string;
  /** Files with the three texts; the outcome goes into `ours`. */
  base: string;
  ours: string;
  theirs: string;
  /** The file that is merged, from the top of the repository on. */
  path: string;
  marks: Marks;
}

/** The outcome for Git: the exit status of a driver, and a note for people. */
export interface DriverOutcome {
  /** 0: merged; up to 127: conflicts; more: nothing was done. */
  status: number;
  note: string | undefined;
}

/** Merges a file by the natural key of its rows, or by lines where that can't be done. */
export async function mergeFile(call: DriverCall): Promise<DriverOutcome> {
  const { base, ours, theirs, path, marks } = call;
  try {
    const texts = { base: textIn(base), ours: textIn(ours), theirs: textIn(theirs) };
    const { text, conflicts } = mergeTexts(path, texts, await keyOf(call), marks);
    writeFileSync(ours, text);
    return { status: conflicts > 0 ? 1 : 0, note: undefined };
  } catch (error) {
    // A driver that fails would leave our content as if it were merged.
    const reason = error instanceof UnreadableRows ? error.message : `can't be merged by its rows: ${messageOf(error)}`;
    return { status: mergeLines(call), note: `${path} ${reason}: it is merged by lines` };
  }
}

function textIn(file: string): string {
  const bytes = readFileSync(file);
  if (!isUtf8(bytes)) throw new UnreadableRows("is not valid UTF-8 on one side");
  return bytes.toString("utf8");
}

/** The key of the seed that has the file; undefined where none has it. */
async function keyOf({ root, path }: DriverCall): Promise<readonly string[] | undefined> {
  const seeds = seedFilesIn(root, await projectFolders(root)).filter((each) => each.path === path);
  const keys = seeds.map(({ key }) => key.join(" and "));
  if (keys.length > 1) throw new UnreadableRows(`has rows of seeds with different keys (${keys.join("; ")})`);
  return seeds[0]?.key;
}

/** Merges as Git does without a driver. */
function mergeLines({ base, ours, theirs, marks }: DriverCall): number {
  const labels = ["-L", marks.ours, "-L", "base", "-L", marks.theirs];
  try {
    execFileSync("git", ["merge-file", "--quiet", `--marker-size=${marks.size}`, ...labels, ours, base, theirs], {
      stdio: ["ignore", "ignore", "ignore"],
    });
    return 0;
  } catch (error) {
    const { status } = error as { status?: number | null }; // of a process that ended
    return status ?? 255;
  }
}
