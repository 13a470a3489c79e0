import type { z } from "zod";
import { nearest } from "../../machine/spelling.ts";
import { isObject } from "../contract/wire.ts";
import { switches as habits, type SwitchName as HabitName } from "../habits/deviations.ts";
import { fixtures } from "./fixtures.ts";
import { isOperator, isWord, operators, words } from "./matchers.ts";
import { builtIn, mentions } from "./references.ts";

type Context = Pick<z.RefinementCtx, "addIssue">;

/** Parts of a step that are checked. */
interface Step {
  call?: unknown;
  fetch?: unknown;
  emulator?: unknown;
  keep?: Record<string, unknown> | undefined;
  otherwise?: Record<string, unknown> | undefined;
}

/** Parts of a file that are checked. */
interface File {
  beginnings: Record<string, Step[]>;
  facts: Record<
    string,
    {
      steps: Step[];
      after?: string | undefined;
      habit?: HabitName | undefined;
      presumes: Partial<Record<HabitName, string | string[]>>;
    }
  >;
}

/** Refuses matchers that don't exist: they would be compared as values, or let anything pass. */
export function checkExpectation(value: unknown, context: Context, path: PropertyKey[] = []): void {
  const wrong = (key: string, known: object, at: PropertyKey[]): void => {
    const near = nearest(key, Object.keys(known));
    const meant = near === undefined ? "" : `; did you mean ${near}?`;
    context.addIssue({ code: "custom", path: at, message: `there is no matcher ${key}${meant}` });
  };
  if (typeof value === "string") {
    // A word that is nearly a matcher; other names are looked up with the references.
    if (isOperator(value)) wrong(value, words, path);
  } else if (Array.isArray(value)) {
    value.forEach((item, index) => checkExpectation(item, context, [...path, index]));
  } else if (isObject(value)) {
    for (const [key, inner] of Object.entries(value)) {
      const here = [...path, key];
      if (/^\$\w/.test(key) && !isOperator(key)) wrong(key, operators, here);
      else if (key === "$match" && !isPattern(inner)) {
        context.addIssue({ code: "custom", path: here, message: "must be a regular expression" });
      } else if (isOperator(key) && Object.keys(value).length > 1) {
        context.addIssue({ code: "custom", path: here, message: "must stand alone; join matchers by $all" });
      } else checkExpectation(inner, context, here);
    }
  }
}

function isPattern(value: unknown): boolean {
  try {
    return typeof value === "string" && new RegExp(value, "u") instanceof RegExp;
  } catch {
    return false;
  }
}

/** Checks what the parts of a file say of each other: names, beginnings, habits and their values. */
export function checkFile(file: File, context: Context): void {
  const always = new Set<string>([...Object.keys(fixtures), ...builtIn]);
  for (const [name, steps] of Object.entries(file.beginnings)) {
    checkSteps(steps, always, ["beginnings", name], context);
  }
  for (const [id, { steps, after, habit, presumes }] of Object.entries(file.facts)) {
    const path = ["facts", id];
    const beginning = after === undefined ? [] : file.beginnings[after];
    if (!beginning) {
      context.addIssue({ code: "custom", path: [...path, "after"], message: `there is no beginning "${after ?? ""}"` });
      continue;
    }
    checkSteps(steps, new Set([...always, ...keptBy(beginning)]), [...path, "steps"], context);
    for (const [name, values] of Object.entries(presumes)) {
      for (const value of [values].flat()) checkValue(name as HabitName, value, [...path, "presumes", name], context);
    }
    steps.forEach(({ otherwise = {} }, index) => {
      for (const value of Object.keys(otherwise)) {
        checkValue(habit, value, [...path, "steps", index, "otherwise", value], context);
      }
    });
  }
}

const keptBy = (steps: readonly Step[]): string[] => steps.flatMap(({ keep = {} }) => Object.keys(keep));

function checkSteps(steps: readonly Step[], always: ReadonlySet<string>, path: PropertyKey[], context: Context): void {
  const known = new Set(always);
  for (const [index, step] of steps.entries()) {
    if ([step.call, step.fetch, step.emulator].filter((what) => what !== undefined).length !== 1) {
      const message = "must have one of call, fetch and emulator";
      context.addIssue({ code: "custom", path: [...path, index], message });
    }
    for (const [name, kept] of Object.entries(step.call === "login" ? (step.keep ?? {}) : {})) {
      if (typeof kept === "string") continue;
      // A part of a token would be known nowhere as one.
      context.addIssue({ code: "custom", path: [...path, index, "keep", name], message: "must be a whole value" });
    }
    for (const { name, path: at } of mentions({ ...step, keep: undefined })) {
      if (/\.(password|apiKey)$/.test(name) && !isCredentialPlace(step, at)) {
        const message = "must be a login's password, or stand in as: nobody else may get it";
        context.addIssue({ code: "custom", path: [...path, index, ...at], message });
      }
      if (known.has(name) || isWord(`$${name}`)) continue;
      const near = nearest(name, [...known]);
      const meant = near === undefined ? "" : `; did you mean "${near}"?`;
      context.addIssue({ code: "custom", path: [...path, index, ...at], message: `"${name}" is not known${meant}` });
    }
    for (const name of keptBy([step])) known.add(name);
  }
}

/** True where a step may hold a credential. */
function isCredentialPlace({ call }: Step, path: readonly PropertyKey[]): boolean {
  const place = (path[0] === "otherwise" ? path.slice(5) : path).join("."); // a value, an alternative, then, a look
  return /^as(\.|$)/.test(place) || (call === "login" && /^(with|each\.\d+)\.password$/.test(place));
}

function checkValue(habit: HabitName | undefined, value: string, path: PropertyKey[], context: Context): void {
  const values: readonly string[] = habit === undefined ? [] : habits[habit].values;
  if (values.includes(value)) return;
  const message = habit === undefined ? "needs the fact's habit" : `must be one of ${values.join(", ")}`;
  context.addIssue({ code: "custom", path, message });
}
