import { wrapLine } from "../../../engine/index.ts";
import { formatCounts, formatCount } from "../../../provider/messages/text.ts";
import type { PlatformDifference } from "./meaning.ts";
import { isAdapted, type VerifyOutcome, type FactTally } from "./outcome.ts";
import type { Rehearsed } from "./rehearsal/rehearsing.ts";

/** The outcome for people, in a number of columns. */
export function screenOf(outcome: VerifyOutcome, columns: number): string {
  const { score, differences, changes, notTried, left } = outcome;
  const table = [
    ...rows(
      "endpoint",
      score.endpoints.map(({ endpoint, ...tally }) => [endpoint, tally]),
    ),
    "",
    ...rows(
      "evidence",
      score.evidence.map(({ evidence, ...tally }) => [evidence, tally]),
    ),
  ];
  const parts = [
    ...answerParts(outcome, columns),
    table,
    ...differences.map((each) => linesOf(each, columns)),
    ...(changes === null ? [] : [changeLines(changes, columns)]),
    ...(notTried.length === 0 ? [] : [notTriedLines(notTried, columns)]),
    ...(left.length === 0 ? [] : [leftLines(left, columns)]),
    wrapLine(summary(outcome), columns),
  ];
  return parts.map((lines) => lines.join("\n")).join("\n\n");
}

/** The first screen. Facts come after it. */
function answerParts({ answer, platform, left }: VerifyOutcome, columns: number): string[][] {
  const { works, settings, missing, resources } = answer;
  const by = (status: Rehearsed["status"]) => resources.filter((each) => each.status === status);
  const unmet = settings.filter(({ isMet }) => !isMet);
  const verdict = {
    yes: `It works on ${platform} as it is.`,
    withSettings: `It works on ${platform} with these settings.`,
    no:
      missing.length > 0
        ? `Something is missing on ${platform}.`
        : `It works on ${platform} with a profile, which is not there yet: --write-profile writes it.`,
  }[works];
  const working = by("works").map(({ resource, does }) => `works    ${resource} ${does}.`);
  const needs = settings.map(({ affects, text }) => `needs    ${affects}: ${text}`);
  const lacks = missing.map(({ resource, what, why }) => {
    const about = what.includes(resource) ? what : `${resource} ${what}`;
    return `MISSING  ${about}: ${why.replaceAll("\n", " ")}`;
  });
  const untried = by("notTried").map(({ resource, does, why = "" }) => `unknown  ${resource} ${does}: ${why}.`);
  const lines = [...working, ...needs, ...lacks, ...untried].flatMap((line) => wrapLine(line, columns));
  const isPart = unmet.length > 0 && missing.length > 0;
  const unwritten = isPart ? ["No profile has the settings yet: --write-profile writes it."] : [];
  const leftOver = left.length > 0 ? ["Something is left over: see the end."] : [];
  return [[...wrapLine(verdict, columns), ...unwritten, ...leftOver], ...(lines.length > 0 ? [lines] : [])];
}

const headings = ["holds", "differs", "not tried"] as const;

function rows(title: string, tallies: readonly (readonly [string, FactTally])[]): string[] {
  const cells = Math.max(title.length, ...tallies.map(([name]) => name.length)) + 2;
  const line = (name: string, numbers: readonly (string | number)[]): string =>
    name.padEnd(cells) +
    numbers.map((each, index) => String(each || "").padStart(headings[index]?.length ?? 0)).join("  ");
  return [
    line(title, headings),
    ...tallies.map(([name, { holds, differs, notTried }]) => line(name, [holds, differs, notTried]).trimEnd()),
  ];
}

function linesOf(
  { fact, rule, evidence, expected, seen, habit, affects, adapts }: PlatformDifference,
  columns: number,
): string[] {
  const indented = (text: string): string[] => wrapLine(`  ${text}`, columns);
  const name = habit === null ? "" : ` [${habit.name}: ${habit.value}]`;
  const isCommand = adapts.by === "setting";
  return [
    ...wrapLine(`DIFFERS ${fact} ${rule} (${evidence.kind})${name}`, columns),
    ...indented(`expected: ${expected}`),
    ...indented(`seen: ${seen}`),
    ...indented(`affects: ${affects}.`),
    ...(isCommand ? [`  adapts: ${adapts.text}`] : indented(`adapts: ${adapts.text}`)),
  ];
}

function changeLines(changes: NonNullable<VerifyOutcome["changes"]>, columns: number): string[] {
  if (changes.length === 0) return ["Nothing has changed since the profile was written."];
  return changes.flatMap(({ what, before, now }) =>
    wrapLine(`CHANGED ${what}: it was ${before}, and is ${now} now.`, columns),
  );
}

/** Facts that were not tried, by reason. */
function notTriedLines(notTried: VerifyOutcome["notTried"], columns: number): string[] {
  const byReason = [...Map.groupBy(notTried, ({ why }) => why)];
  return byReason.flatMap(([why, facts]) =>
    wrapLine(`${formatCount(facts.length, "fact")} not tried: ${why}.`, columns),
  );
}

/** IDs in a line about what is left; `--json` has all. */
const maxIDs = 5;

const leftLines = (left: VerifyOutcome["left"], columns: number): string[] =>
  [...Map.groupBy(left, ({ kind, why }) => `${kind} ${why}`).values()].flatMap((alike) => {
    const [{ kind, why }] = alike as [VerifyOutcome["left"][number]]; // no group is empty
    const ids = alike.flatMap((each) => each.ids);
    const more = ids.length > maxIDs ? ` and ${ids.length - maxIDs} more` : "";
    const named = ids.slice(0, maxIDs).join(", ") + more;
    return wrapLine(`LEFT OVER ${kind} ${named}: ${why} 'microapps verify --clean --sandbox' tries again.`, columns);
  });

function summary({ score: { all }, differences, changes, requests, mark }: VerifyOutcome): string {
  const adapted = differences.filter(isAdapted).length;
  const counts = formatCounts([
    [all.holds, "hold"],
    [all.differs, "differ"],
    [all.notTried, "not tried"],
  ]);
  const met =
    differences.length === 0
      ? " Nothing differs."
      : ` ${formatCount(differences.length, "difference")}, of which ${adapted} need nothing to be done.`;
  const since = changes === null ? "" : ` ${formatCount(changes.length, "change")} since the profile was written.`;
  return `Facts: ${counts}.${met}${since} ${formatCount(requests, "request")} in run ${mark}.`;
}

/** Addresses of people: whoever answers may name somebody. */
export const withoutAddresses = (text: string): string =>
  text.replaceAll(/[^\s@"'<>(),;:]+@[^\s@"'<>(),;:]+/g, "[address]");
