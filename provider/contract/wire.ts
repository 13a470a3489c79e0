import { checkJsonBounds } from "../../machine/settings/bounds.ts";

/** A JSON object. */
export type Json = Record<string, unknown>;

/** True for a JSON object, neither null nor a list. */
export const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Parses JSON; undefined for a text that isn't JSON. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Bounds of an answer; how much may stand in it is bounded by its bytes. */
export const ofAnswers = { levels: 100, values: Infinity };

/** The JSON of a platform's answer; undefined when it is none, or deeper than anything that looks into it goes. */
export function answerIn(text: string): unknown {
  try {
    checkJsonBounds(text, ofAnswers);
  } catch {
    return undefined;
  }
  return jsonIn(text);
}

/** The texts in a value, at whatever depth. */
export function* textsIn(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  else if (Array.isArray(value)) for (const item of value) yield* textsIn(item);
  else if (isObject(value)) for (const inner of Object.values(value)) yield* textsIn(inner);
}

/** Reads the value at a dotted path; undefined when there is none. The path `""` is the whole value. */
export function at(wire: unknown, path: string): unknown {
  if (path === "") return wire;
  let value = wire;
  for (const step of path.split(".")) {
    if (!isObject(value) || !Object.hasOwn(value, step)) return undefined;
    value = value[step];
  }
  return value;
}

/** Reads the value at the first of these paths that has one. */
export function firstOf(wire: unknown, ...paths: string[]): unknown {
  for (const path of paths) {
    const value = at(wire, path);
    if (value !== undefined) return value;
  }
  return undefined;
}

/**
 * Reads the record of an answer, from the first path that has one; undefined for none. Returns the whole of an answer
 * with neither `status` nor `body`: another server sent it, so the endpoint's schema must refuse it, and a `{}` must not
 * mean "not found".
 */
export function readIn(wire: unknown, ...paths: string[]): unknown {
  const found = firstOf(wire, ...paths);
  if (found !== undefined) return absent(found);
  const ours = at(wire, "status") !== undefined || at(wire, "body") !== undefined;
  return ours ? undefined : wire;
}

/** Turns null and an empty object, which stand for no record, into undefined. */
const absent = (value: unknown): unknown =>
  value === null || (isObject(value) && Object.keys(value).length === 0) ? undefined : value;

/** Makes a list of one value or of a list; undefined for no value. */
export const listOf = (value: unknown): unknown =>
  value === undefined || value === null ? undefined : Array.isArray(value) ? value : [value];

/**
 * Turns a numeric ID into a text and leaves other values alone. A number beyond 2^53 has lost digits, so it is no ID.
 */
export const toTextID = (value: unknown): unknown => (Number.isSafeInteger(value) ? String(value) : value);

const failureWords = new Set(["failure", "fail", "failed", "error"]);

/**
 * The platform's message when it refused a call, undefined when it did not. Known forms: `{status: "failure" | "error",
 * message}`, the same under `body`, and `{error, message?}`; each with any HTTP status, 200 included.
 */
export function refusalIn(wire: unknown): string | undefined {
  for (const part of [wire, at(wire, "body")]) {
    if (!isObject(part)) continue;
    const { status, error, message, ok } = part;
    const text = [error, message].filter((words) => typeof words === "string" && words !== "").join(": ");
    if (typeof status === "string" && failureWords.has(status.toLowerCase())) return text || `status ${status}`;
    if (typeof error === "string" || ok === false) return text || "not ok";
  }
  return undefined;
}
