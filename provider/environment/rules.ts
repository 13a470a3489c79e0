import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import {
  find,
  keyPlace,
  type Place,
  type Problem,
  toPlainValue,
  type Value,
  valuePlace,
  describePlace,
} from "../layers/document.ts";
import { formsAt, type Layers, type Merged, mergeLayers } from "../layers/layers.ts";
import { matcher } from "../people/people.ts";
import { valueNamed } from "./problems.ts";
import { environmentFile, isUnknown, type Rule } from "./schema.ts";

/** A file whose rules are to hold. */
interface Ruled {
  layers: Layers;
  merged: Merged;
  root: Value;
  /** Where values stand that only a stack knows. */
  unknown: ReadonlySet<string>;
  /** The parts without problems, with the defaults of the file. */
  sound: unknown;
  report: (problem: Problem) => void;
}

/** A rule of another version of the file, which holds as well, and where it stands there. */
export interface HeldRule {
  rule: Rule;
  at: Place;
}

/** Reports each rule that is broken, with its own place, and each that can't be meant. */
export function checkRules(ruled: Ruled, rules: readonly Rule[], held: readonly HeldRule[] = []): void {
  const { root, report } = ruled;
  for (const { rule, at } of held) {
    if (rules.some((one) => isDeepStrictEqual(one, rule))) continue;
    const steps = stepsOf(rule.path);
    if (steps) new Judge(ruled, rule, at, "the base's rule").check(steps);
  }
  for (const [index, rule] of rules.entries()) {
    const here = ["rules", index];
    const at = keyPlace(root, here);
    const steps = stepsOf(rule.path);
    const path = typeof rule.path === "string" ? rule.path : rule.path.join(".");
    if (!steps) {
      const message = `nothing in an Environment file can stand at ${path}; correct the path`;
      report({ at: valuePlace(root, [...here, "path"]), message });
      continue;
    }
    const { atMost, atLeast, only, fixed, never, required } = rule;
    if ([atMost, atLeast, only, fixed, never, required].every((kind) => kind === undefined)) {
      report({ at, message: "the rule is empty; give it atMost, atLeast, only, fixed, never or required" });
    }
    const isBounded = atMost !== undefined || atLeast !== undefined;
    if (isBounded && !formsAt(environmentFile, steps).some((form) => form instanceof z.ZodNumber)) {
      report({ at, message: `${path} is not a number; use only, fixed, never or required` });
      continue;
    }
    new Judge(ruled, rule, at).check(steps);
  }
}

/**
 * The steps of a path; undefined when nothing of the schema can stand there. The dots of an e-mail address belong to it;
 * for other keys with dots there are lists.
 */
function stepsOf(path: Rule["path"]): string[] | undefined {
  if (typeof path !== "string") return formsAt(environmentFile, path).length > 0 ? path : undefined;
  const walk = (schema: z.core.$ZodType, parts: readonly string[]): string[] | undefined => {
    const [first, ...rest] = parts;
    if (first === undefined) return [];
    for (const form of formsAt(schema, [])) {
      if (form instanceof z.ZodObject && Object.hasOwn(form.shape, first)) {
        const below = walk((form.shape as z.core.$ZodShape)[first] ?? form, rest);
        if (below) return [first, ...below];
      }
      if (!(form instanceof z.ZodRecord)) continue;
      for (let count = 1; count <= parts.length; count++) {
        const key = parts.slice(0, count).join(".");
        // Else a misspelt key would be a part of the name before it.
        if (count > 1 && !key.includes("@")) continue;
        const below = walk(form.valueType, parts.slice(count));
        if (below) return [key, ...below];
      }
    }
    return undefined;
  };
  return walk(environmentFile, path.split("."));
}

const isMap = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

interface Match {
  path: string[];
  value: unknown;
}

/** The values at the steps; with `partly`, also where only the steps after the last pattern lead to nothing. */
function matches(content: unknown, steps: readonly string[], partly = false): Match[] {
  const isPattern = (step: string): boolean => step.includes("*");
  const last = steps.findLastIndex(isPattern);
  let found: Match[] = [{ path: [], value: content }];
  for (const [index, step] of steps.entries()) {
    found = found.flatMap(({ path, value }) => {
      // The role of a member may stand for the member.
      if (step === "role" && typeof value === "string") return [{ path, value }];
      const fits = matcher(step);
      const keys = !isMap(value) ? [] : isPattern(step) ? Object.keys(value).filter(fits) : [step];
      const below = keys.map((key) => ({ path: [...path, key], value: isMap(value) ? value[key] : undefined }));
      if (partly && index > last && below.length === 0) return [{ path: [...path, step], value: undefined }];
      return below.filter(({ value }) => partly || value !== undefined);
    });
  }
  return found;
}

class Judge {
  readonly #ruled: Ruled;
  readonly #rule: Rule;
  readonly #sentence: string;

  constructor(ruled: Ruled, rule: Rule, at: Place, named = "the rule") {
    this.#ruled = ruled;
    this.#rule = rule;
    const because = rule.because === undefined ? "" : `, because ${rule.because}`;
    this.#sentence = `${named} at ${describePlace(at)} says %${because}`;
    this.#at = at;
  }

  readonly #at: Place;

  check(steps: readonly string[]): void {
    const { atMost, atLeast, only, fixed, never, required } = this.#rule;
    const { root, sound, unknown } = this.#ruled;
    for (const { path, value } of matches(sound, steps)) {
      if (isUnknown(unknown, path)) continue;
      if (atMost !== undefined && !(typeof value === "number" && value <= atMost)) {
        this.#broken(path, value, `at most ${atMost}`);
      }
      if (atLeast !== undefined && !(typeof value === "number" && value >= atLeast)) {
        this.#broken(path, value, `at least ${atLeast}`);
      }
      const values = Array.isArray(value) ? (value as unknown[]) : [value];
      const other = only && values.find((one) => !(only as unknown[]).includes(one));
      if (other !== undefined) this.#broken(path, other, `only ${only?.join(" or ") ?? ""}`);
    }
    const written = toPlainValue(root);
    if (never) {
      for (const { path, value } of matches(written, steps)) {
        if (value !== false && value !== null) this.#broken(path, value, "never");
      }
    }
    if (required) {
      for (const { path, value } of matches(written, steps, true)) {
        if (value === undefined || value === null) this.#broken(path, undefined, "it is required");
      }
    }
    if (fixed) this.#checkFixed(steps);
  }

  /** Checks that all layers together have the values of the layers up to the rule's. */
  #checkFixed(steps: readonly string[]): void {
    const { layers, merged, root } = this.#ruled;
    const index = layers.trees.findIndex(({ at }) => at.file === this.#at.file);
    const before = mergeLayers(layers, () => undefined, index + 1).value;
    if (!before) return;
    for (const { path, value } of matches(toPlainValue(before), steps)) {
      const now = find(merged.value ?? root, path)?.value;
      if (now && isDeepStrictEqual(toPlainValue(now), value)) continue;
      const reason = `it stays ${valueNamed(find(before, path)?.value)} (${describePlace(valuePlace(before, path))})`;
      if (now) this.#broken(path, toPlainValue(now), reason);
      else {
        const taken = path.flatMap((_, at) => merged.taken.get(JSON.stringify(path.slice(0, at + 1))) ?? []);
        const at = taken[0] ?? keyPlace(root, path);
        this.#ruled.report({ at, message: `${path.join(".")} is removed; ${this.#saying(reason)}` });
      }
    }
  }

  #broken(path: readonly string[], value: unknown, reason: string): void {
    const { root, report } = this.#ruled;
    const written = find(root, path)?.value;
    const what = written
      ? ` is ${valueNamed(written)}`
      : value === undefined
        ? " is missing"
        : ` is ${JSON.stringify(value)} by default`;
    const at = written?.at ?? keyPlace(root, path);
    report({ at, message: `${path.join(".")}${what}; ${this.#saying(reason)}` });
  }

  #saying(sentence: string): string {
    return this.#sentence.replace("%", () => sentence);
  }
}
