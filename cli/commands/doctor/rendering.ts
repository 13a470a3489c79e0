import { wrapLine } from "../../../engine/index.ts";
import type { Mask } from "../../../provider/messages/masks.ts";
import { isWrong, type Result } from "./checks.ts";

/** Result of a doctor run, as `--json` prints it: docs/doctor.md has the shape. */
export interface DoctorOutcome {
  /** Version of this shape. */
  version: 1;
  /** The exit status. */
  status: 0 | 2 | 3;
  stack: string | null;
  /** Origin of the platform; null where none is configured. */
  platform: string | null;
  calls: { made: number; most: number };
  findings: {
    id: string;
    title: string;
    is: Result["is"];
    seen?: string;
    means?: string;
    mend?: readonly string[];
    /** Title of the check that failed before. */
    because?: string;
  }[];
}

/** 0: nothing has to be mended; 3: the platform refuses who calls; 2: anything else has to be mended. */
export function statusOf(results: readonly Result[]): DoctorOutcome["status"] {
  const found = results.filter(isWrong);
  if (found.length === 0) return 0;
  return found.some(({ isRefusal }) => isRefusal) ? 3 : 2;
}

/** The findings with whatever is secret hidden. */
export const findingsOf = (results: readonly Result[], mask: Mask): DoctorOutcome["findings"] =>
  results.map((result) => {
    const { id, title, is } = result;
    const base = { id: mask.hide(id), title: mask.hide(title), is };
    if (result.is === "skipped") return { ...base, because: mask.hide(result.because) };
    const { seen, means, mend = [] } = result;
    return {
      ...base,
      seen: mask.hide(seen),
      ...(means === undefined ? {} : { means: mask.hide(means) }),
      ...(mend.length === 0 ? {} : { mend: mend.map((each) => mask.hide(each)) }),
    };
  });

const marks = { well: "ok", noted: "note", wrong: "MEND", skipped: "-" } as const;
const markCells = 6;
/** A longer title has a line of its own. */
const maxTitleCells = 24;

/** The outcome for people, in a number of columns; a command is never broken. */
export function screenOf({ findings, calls }: DoctorOutcome, columns: number): string {
  const looked = findings.filter(({ is }) => is !== "skipped");
  const titles = looked.map(({ title }) => title.length).filter((length) => length <= maxTitleCells);
  const cells = Math.max(0, ...titles) + 2;
  const lines = [...looked.flatMap((each) => linesOf(each, cells, columns)), ...skippedLines(findings, columns)];
  const count = findings.filter(({ is }) => is === "wrong").length;
  const end =
    count === 0 ? "Nothing has to be mended." : `${count} ${count === 1 ? "thing has" : "things have"} to be mended.`;
  const sent = `${calls.made === 1 ? "1 call was" : `${calls.made} calls were`} made, of at most ${calls.most}; none of them changes anything.`;
  return [...lines, "", ...wrapLine(`${end} ${sent}`, columns)].join("\n");
}

function linesOf(
  { title, is, seen = "", means, mend = [] }: DoctorOutcome["findings"][number],
  titleCells: number,
  columns: number,
): string[] {
  const indent = " ".repeat(markCells + titleCells);
  const isWell = is === "well";
  const texts = [seen, ...(isWell || means === undefined ? [] : [means])];
  const [first = "", ...rest] = texts.flatMap((each) => wrapLine(indent + each, columns));
  const commands = isWell ? [] : mend.map((each) => `${indent}  ${each}`);
  const mark = marks[is].padEnd(markCells);
  if (title.length > maxTitleCells) return [mark + title, first, ...rest, ...commands];
  return [mark + title.padEnd(titleCells) + first.slice(indent.length), ...rest, ...commands];
}

/** Skipped checks, by the failed check that prevented them. */
function skippedLines(findings: DoctorOutcome["findings"], columns: number): string[] {
  const causes = [...new Set(findings.flatMap(({ because }) => because ?? []))];
  return causes.flatMap((cause) => {
    const titles = findings.filter(({ because }) => because === cause).map(({ title }) => title);
    const text = `Not looked at before this is mended: ${cause}. It leaves out ${titles.join(", ")}.`;
    const [first = "", ...rest] = wrapLine(" ".repeat(markCells) + text, columns);
    return [marks.skipped.padEnd(markCells) + first.slice(markCells), ...rest];
  });
}
