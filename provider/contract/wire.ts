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

/** Names under which an answer has its payload, the documented one first. */
export const envelopes = ["body", "result", "data", "response"] as const;

/** Paths of a value by each of these names, in every envelope in use. */
export const placesOf = (...names: string[]): string[] =>
  names.flatMap((name) => [`body.${name}`, name, ...envelopes.slice(1).map((outer) => `${outer}.${name}`)]);

/** Reads the ID of what was made: by one of these names, as `_id` or `id`, or as the whole of an envelope. */
export function findMadeID(wire: unknown, ...names: string[]): unknown {
  const named = firstOf(wire, ...placesOf(...names, "_id", "id"));
  if (named !== undefined) return named;
  const whole = ["result", "body", "data", "response"].map((path) => at(wire, path));
  return whole.find((value) => typeof toTextID(value) === "string");
}

/**
 * Reads the record of an answer, from the first path that has one; undefined for none. Returns the whole of any other
 * answer, so that the endpoint's schema refuses it: neither a `{}` nor a record under an unknown name means "not found".
 */
export function readIn(wire: unknown, ...paths: string[]): unknown {
  const found = firstOf(wire, ...paths);
  if (found !== undefined) return absent(found);
  return isEmptyEnvelope(wire) ? undefined : wire;
}

const envelopeWords = new Set(["status", "message", "success", "ok", "error", "errors", "code"]);

/** True for an answer that has words about a call, and no payload. */
const isEmptyEnvelope = (wire: unknown): boolean =>
  isObject(wire) &&
  ["status", ...envelopes].some((key) => wire[key] !== undefined) &&
  Object.entries(wire).every(
    ([key, value]) => envelopeWords.has(key) || (envelopes.some((name) => name === key) && holdsNothing(key, value)),
  );

/** True for no payload: none, words, or a text where the documented payload would stand. */
function holdsNothing(key: string, value: unknown): boolean {
  if (isObject(value)) return Object.keys(value).every((inner) => envelopeWords.has(inner));
  return (value ?? null) === null || (Array.isArray(value) ? value.length === 0 : key === "body");
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

/** An answer and what stands in each of its envelopes. */
const partsOf = (wire: unknown): unknown[] => [wire, ...envelopes.map((path) => at(wire, path))];

/** The JSON of a text that holds a list or an object; leaves any other value alone. */
export function parseText(value: unknown): unknown {
  const found = typeof value === "string" && /^\s*[[{]/.test(value) ? answerIn(value) : undefined;
  return found ?? value;
}

const failureWords = new Set(["failure", "fail", "failed", "error"]);

/**
 * The platform's message when it refused a call, undefined when it did not. Known forms: `{status: "failure" | "error",
 * message}`, the same under `body`, and `{error, message?}`, where the error may be a number or an object with a message;
 * also `ok: false` and `success: false`. Each with any HTTP status, 200 included.
 */
export function refusalIn(wire: unknown): string | undefined {
  for (const part of partsOf(wire)) {
    if (!isObject(part)) continue;
    const { status, error, message, reason, ok, success } = part;
    const inner = isObject(error) ? (error["message"] ?? error["reason"] ?? error["error"]) : error;
    const words = [inner, message ?? reason].filter((each) => typeof each === "string" && each !== "");
    const text = words.join(": ");
    const code = refusalStatusIn(part);
    if (typeof status === "string" && failureWords.has(status.toLowerCase())) return text || `status ${status}`;
    if (code !== undefined) return text || `status ${code}`;
    if ((typeof error === "string" && error !== "") || isObject(error) || error === true) return text || "not ok";
    if (ok === false || success === false) return text || "not ok";
  }
  return undefined;
}

/** The HTTP status that a refusal has inside of an answer with HTTP 200, such as `{error: 403}`. */
export function refusalStatusIn(wire: unknown): number | undefined {
  for (const part of partsOf(wire)) {
    if (!isObject(part)) continue;
    const { status, statusCode, error } = part;
    const found = [error, at(error, "error"), status, statusCode].find(
      (code) => Number.isInteger(code) && Number(code) >= 400,
    );
    if (typeof found === "number" && found < 600) return found;
  }
  return undefined;
}
