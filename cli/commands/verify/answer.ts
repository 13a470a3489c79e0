import type { Profile } from "../../../provider/habits/profile.ts";
import { meaningOf, wordsFact, type PlatformDifference } from "./meaning.ts";
import type { Rehearsed } from "./rehearsal/rehearsing.ts";

/** Something that the product needs and the platform lacks. */
export interface Lack {
  /** The resource or function that lacks it. */
  resource: string;
  what: string;
  why: string;
}

/** Answer to one question: will this product work on that platform, with which settings, and what will not? */
export interface Answer {
  works: "yes" | "withSettings" | "no";
  /** Settings and inputs that it needs. A setting is met where a profile of the run has it, or is written. */
  settings: { habit: string; value: string; affects: string; text: string; isMet: boolean }[];
  missing: Lack[];
  /** Each resource that was created, read, updated and deleted, or why it was not. */
  resources: Rehearsed[];
}

/** Answers from rehearsals, and from differences of what none of them tries. */
export function answerOf(
  resources: readonly Rehearsed[],
  differences: readonly PlatformDifference[],
  profiles: {
    found: Pick<Profile, "limits" | "statusWords">;
    known: Profile | undefined;
    isWritten: boolean;
    /** The configured seconds; undefined where none are. */
    consistencySeconds?: number | undefined;
  },
): Answer {
  const settings = differences
    .filter(({ adapts: { by } }) => by === "setting" || by === "declaration")
    .map((difference) => ({
      habit: difference.habit?.name ?? difference.fact,
      value: difference.habit?.value ?? difference.seen,
      affects: difference.affects,
      text: difference.adapts.text,
      isMet: isMet(difference, profiles),
    }));
  const { visibleAfter } = profiles.found.limits;
  if (visibleAfter !== undefined && visibleAfter > usualWaitSeconds) {
    const { known, isWritten, consistencySeconds = 0 } = profiles;
    settings.push({
      habit: "visibleAfter",
      value: String(visibleAfter),
      affects: "Everything that is made: it is found only later (eventual consistency)",
      text: `microapps config set microapps:consistencySeconds ${2 * visibleAfter}`,
      isMet: isWritten || known?.limits.visibleAfter === visibleAfter || consistencySeconds >= 2 * visibleAfter,
    });
  }
  const failed = resources.flatMap(({ resource, does, status, why = "" }) =>
    status === "fails" ? [{ resource, what: does, why }] : [],
  );
  const lacking = differences.flatMap(({ habit, affects, adapts, seen, rule, fact }) => {
    if (adapts.by !== "nothing") return [];
    const known = habit && meaningOf(habit.name, habit.value).adapts;
    const resource = known?.by === "nothing" ? known.refuses : affects;
    if (failed.some((each) => each.resource === resource)) return [];
    const why = habit ? `${habit.name} is ${habit.value}; ${adapts.text}` : `${fact} ${rule}, but: ${seen}`;
    return [{ resource, what: affects, why }];
  });
  const missing = [...failed, ...lacking];
  const isNo = missing.length > 0 || settings.some((each) => !each.isMet);
  const works = isNo ? "no" : settings.length > 0 ? "withSettings" : "yes";
  return { works, settings, missing, resources: [...resources] };
}

/** Half of the seconds that a run waits for what it has made: what is found sooner needs no setting. */
const usualWaitSeconds = 5;

function isMet(
  { habit, fact, adapts }: PlatformDifference,
  { found, known, isWritten }: Parameters<typeof answerOf>[2],
): boolean {
  if (isWritten || adapts.by === "declaration") return true;
  if (habit) return (known?.habits as Record<string, string> | undefined)?.[habit.name] === habit.value;
  return fact === wordsFact && Object.keys(found.statusWords).every((word) => known?.statusWords[word] !== undefined);
}
