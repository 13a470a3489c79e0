import { messageOf } from "../../machine/failures.ts";
import { endpoints, type WireNames } from "../contract/endpoints.ts";
import {
  switches as habitTable,
  usualSwitches as usualHabits,
  type SwitchName as HabitName,
  type Switches as Habits,
} from "../habits/deviations.ts";
import type { Fact } from "./fact.ts";
import { fixtures, people, type FixtureIDs, type FixtureName } from "./fixtures.ts";
import { forms, findWrongHabit, type FormChoice } from "./forms.ts";
import { FactThings, type MadeThing } from "./made.ts";
import type { Mismatch } from "./matching.ts";
import { createRawClient, type PlatformClient, type Send } from "./platformClient.ts";
import { mentions } from "./references.ts";
import { carryOutFact, type Emulated, type FactFailure, type Stage } from "./trial.ts";

/** Result of a fact. `habit` is the platform's habit that it found. */
export type FactResult = { fact: Fact; habit?: { name: HabitName; value: string } | undefined } & (
  | { status: "passed" }
  | ({ status: "failed"; step: number } & Mismatch)
  | { status: "notTried"; why: string }
);

export interface FactRun {
  facts: readonly Fact[];
  /** The platform's address is the caller's business. */
  send: Send;
  sandbox: FixtureIDs;
  /** Known habits of the platform (default: the usual); facts find the rest. */
  habits?: Partial<Habits> | undefined;
  /** Which form is sent where the platform takes several (default: the first). */
  spelling?: FormChoice | undefined;
  wireNames?: WireNames | undefined;
  /** Another way to call the platform, in place of plain HTTP through `send`. */
  client?: PlatformClient | undefined;
  emulator?: Emulated | undefined;
  /** Puts the platform back after each fact, in place of removing what it made. */
  reset?: (() => void) | undefined;
  /** Ends the run after the call that is under way; what the fact made is removed all the same. */
  signal?: AbortSignal | undefined;
  made?: ((thing: MadeThing) => void) | undefined;
  removed?: ((thing: MadeThing) => void) | undefined;
  /** Receives each fact when it is finished. */
  done?: ((result: FactResult) => void) | undefined;
}

/** Tries facts on a platform, one after the other: first those that tell of its habits, which others presume. */
export async function runFacts(run: FactRun): Promise<FactResult[]> {
  const { sandbox, send, spelling, wireNames, emulator, signal } = run;
  const known: Partial<Record<HabitName, string>> = { ...run.habits };
  const habits = (): Partial<Habits> => known as Partial<Habits>; // values are those of the table
  const client = run.client ?? createRawClient({ send, sandbox, habits, spelling, wireNames });
  const ledger = new FactThings(client, run.made, run.removed);
  const results: FactResult[] = [];
  for (const fact of inOrder(run.facts)) {
    const why = signal?.aborted ? "the run was stopped" : obstacle(fact, run, habits());
    const result: FactResult =
      why === undefined
        ? await tryFact(fact, { client, ledger, sandbox, emulator, signal }, run)
        : { fact, status: "notTried", why };
    if (result.habit) known[result.habit.name] = result.habit.value;
    results.push(result);
    run.done?.(result);
  }
  if (!run.client) await client.leave().catch(() => undefined);
  return results;
}

async function tryFact(fact: Fact, stage: Stage, { emulator, reset, signal }: FactRun): Promise<FactResult> {
  emulator?.set(fact.settings ?? {});
  let failure: FactFailure | undefined;
  try {
    failure = await carryOutFact(fact, stage);
  } catch (error) {
    if (signal?.aborted) return { fact, status: "notTried", why: "the run was stopped" };
    const message = messageOf(error);
    failure = { step: 0, path: "", expected: "an answer", seen: message };
  } finally {
    emulator?.set({});
    if (reset) {
      stage.ledger.forget();
      reset();
    } else await stage.ledger.clear();
  }
  const value = failure ? failure.value : fact.habit && usualHabits[fact.habit];
  const habit = fact.habit && value !== undefined ? { name: fact.habit, value } : undefined;
  if (!failure) return { fact, habit, status: "passed" };
  const { step, path, expected, seen } = failure;
  return { fact, habit, status: "failed", step, path, expected, seen };
}

/** Facts that tell of habits come first, each after those of the habits that it presumes, or whose form it sends. */
export function inOrder(facts: readonly Fact[]): Fact[] {
  const tellers = facts.filter(({ habit }) => habit !== undefined);
  const depths = new Map<Fact, number>();
  const depth = (fact: Fact): number => {
    const known = depths.get(fact);
    if (known !== undefined) return known;
    depths.set(fact, 0); // of a circle, whoever comes round to it does not wait for it
    const needed = habitsBefore(fact);
    const before = tellers.filter((other) => other !== fact && other.habit !== undefined && needed.has(other.habit));
    const found = Math.max(0, ...before.map((other) => 1 + depth(other)));
    depths.set(fact, found);
    return found;
  };
  const rest = facts.filter(({ habit }) => habit === undefined);
  return [...tellers.toSorted((a, b) => depth(a) - depth(b)), ...rest];
}

/** Habits that are to be known before a fact is tried. */
function habitsBefore({ presumes, steps }: Fact): ReadonlySet<string> {
  const calls = steps.flatMap(({ call, form }) => (call === undefined || form !== undefined ? [] : [call]));
  const firstForms = calls.map((name) => Object.values(forms[name])[0]);
  return new Set([presumes, ...firstForms.map((form) => form?.presumes ?? {})].flatMap(Object.keys));
}

/** Why a fact can't be tried on this platform; undefined when it can. */
function obstacle(fact: Fact, { sandbox, emulator }: FactRun, known: Partial<Habits>): string | undefined {
  if (isEmulatorsOnly(fact) && !emulator) return "it needs an emulator";
  const missing = needsOf(fact).find((name) => sandbox[name] === undefined);
  if (missing !== undefined) return `the sandbox has no ${missing}: ${fixtures[missing]}`;
  const other = findWrongHabit(fact.presumes, known);
  if (other === undefined) return undefined;
  const value = known[other] ?? usualHabits[other];
  return `${habitTable[other].about} (${other}): here it is "${value}"`;
}

/** True for a fact that needs more than the interface. */
export const isEmulatorsOnly = ({ settings, steps }: Fact): boolean =>
  settings !== undefined || steps.some(({ emulator }) => emulator !== undefined);

/** Things that a sandbox needs for a fact. */
export function needsOf({ needs, steps }: Fact): FixtureName[] {
  const named = mentions(steps).map(({ name }) => name);
  const callers = steps.flatMap(({ as }) => people.filter((person) => person === as));
  const passwords = callers.flatMap((person): FixtureName[] => [`${person}.email`, `${person}.password`]);
  const keys = steps.flatMap(({ call }): FixtureName[] =>
    call !== undefined && endpoints[call].auth === "token+key" ? ["admin.apiKey"] : [],
  );
  const all = [...needs, ...named, ...passwords, ...keys].filter((name): name is FixtureName =>
    Object.hasOwn(fixtures, name),
  );
  return [...new Set(all)];
}
