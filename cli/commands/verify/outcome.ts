import type { Fact } from "../../../provider/conformance/fact.ts";
import type { FactResult } from "../../../provider/conformance/run.ts";
import type { EndpointName } from "../../../provider/contract/endpoints.ts";
import { switches as habits, type SwitchName as HabitName } from "../../../provider/habits/deviations.ts";
import type { Profile } from "../../../provider/habits/profile.ts";
import { printableLine } from "../../../provider/messages/text.ts";
import type { Answer } from "./answer.ts";
import { adaptionText, meaningOf, meaningOfFact, type PlatformDifference } from "./meaning.ts";
import type { ProfileChange } from "./profileFile.ts";

/** How facts came out. */
export interface FactTally {
  holds: number;
  differs: number;
  notTried: number;
}

/** Result of a verify run, as `--json` prints it: docs/verify.md has the shape. */
export interface VerifyOutcome {
  /** Version of this shape. */
  version: 1;
  /** The exit status. */
  status: 0 | 1 | 3;
  stack: string | null;
  /** Origin of the platform. */
  platform: string;
  answer: Answer;
  /** Stands in whatever the run made. */
  mark: string;
  requests: number;
  score: {
    all: FactTally;
    endpoints: ({ endpoint: string } & FactTally)[];
    evidence: ({ evidence: string } & FactTally)[];
  };
  differences: PlatformDifference[];
  /** Since the profile of `--profile`; null without one. */
  changes: ProfileChange[] | null;
  notTried: { fact: string; why: string }[];
  profile: Profile;
  /** Things that could not be removed. */
  left: { kind: string; ids: readonly string[]; why: string }[];
}

/** Characters of a value in a sentence. */
const maxCharacters = 160;

const endpointIn = (id: string): EndpointName => (id.split(/[ :]/)[0] ?? "") as EndpointName; // as facts are named

/** The name of the habit that differs, where the platform was seen to have another value than the usual. */
export const deviation = ({ habit }: FactResult): { name: HabitName; value: string } | undefined =>
  habit && habit.value !== habits[habit.name].values[0] ? habit : undefined;

const differs = (result: FactResult): boolean => result.status === "failed" || deviation(result) !== undefined;

/** Counts the facts, by endpoint and by evidence. */
export function scoreOf(results: readonly FactResult[]): VerifyOutcome["score"] {
  const tally = (some: readonly FactResult[]): FactTally => ({
    holds: some.filter((each) => each.status === "passed" && !differs(each)).length,
    differs: some.filter(differs).length,
    notTried: some.filter((each) => each.status === "notTried" && !differs(each)).length,
  });
  const by = (keyOf: (fact: Fact) => string): [string, FactResult[]][] => [
    ...Map.groupBy(results, ({ fact }) => keyOf(fact)),
  ];
  return {
    all: tally(results),
    endpoints: by(({ id }) => endpointIn(id)).map(([endpoint, some]) => ({ endpoint, ...tally(some) })),
    evidence: by(({ evidence }) => evidence.kind).map(([evidence, some]) => ({ evidence, ...tally(some) })),
  };
}

/** Each difference, with its consequences. A habit is listed once, by the first fact that shows it. */
export function differencesOf(results: readonly FactResult[], hide: (text: string) => string): PlatformDifference[] {
  const known = new Set<string>();
  return results.filter(differs).flatMap((result): PlatformDifference[] => {
    const { id: fact, rule, evidence } = result.fact;
    const found = deviation(result);
    const base = { fact, rule, evidence, ...comparison(result, hide) };
    if (!found) return [{ ...base, habit: null, ...meaningOfFact(fact) }];
    const { name, value } = found;
    if (known.has(`${name} ${value}`)) return [];
    known.add(`${name} ${value}`);
    const { affects, adapts } = meaningOf(name, value);
    const { values } = habits[name];
    const habit = { name, usual: values[0], value };
    return [{ ...base, habit, affects, adapts: { by: adapts.by, text: adaptionText(adapts, values.length) } }];
  });
}

function comparison(result: FactResult, hide: (text: string) => string): Pick<PlatformDifference, "expected" | "seen"> {
  if (result.status === "failed") {
    const at = result.path === "" ? "" : `${result.path}: `;
    return { expected: describeValue(result.expected, hide), seen: hide(at) + describeValue(result.seen, hide) };
  }
  const found = deviation(result);
  return { expected: found === undefined ? "" : habits[found.name].values[0], seen: found?.value ?? "" };
}

/** A value of the platform's in a sentence: masked first, then cut. */
export function describeValue(value: unknown, hide: (text: string) => string): string {
  const text = printableLine(hide(value === undefined ? "nothing" : JSON.stringify(value)));
  return text.length > maxCharacters ? `${text.slice(0, maxCharacters)}…` : text;
}

/** True when nobody has to do anything about a difference. */
export const isAdapted = ({ adapts: { by } }: PlatformDifference): boolean => by === "client" || by === "unused";

/**
 * Returns 3 when the product lacks something, or when the platform is not as its profile any more; 1 when all that is
 * wrong is that something could not be removed.
 */
export function statusOf(
  { works }: Answer,
  changes: readonly ProfileChange[] | null,
  left: readonly unknown[],
): VerifyOutcome["status"] {
  if (works === "no" || (changes !== null && changes.length > 0)) return 3;
  return left.length > 0 ? 1 : 0;
}
