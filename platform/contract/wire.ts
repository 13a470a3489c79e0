/** A JSON object. */
export type Json = Record<string, unknown>;

/** True for a JSON object, neither null nor a list. */
export const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A member of a map that people name, who may call it `constructor`. */
export const entryIn = <Value>(map: Readonly<Record<string, Value>> | undefined, name: string): Value | undefined =>
  map && Object.hasOwn(map, name) ? map[name] : undefined;

/** Path of a key that objects of JavaScript lose: what is declared there would be seen by nobody. */
export function lostKey(content: unknown): string[] | undefined {
  if (typeof content !== "object" || content === null) return undefined;
  for (const [key, value] of Object.entries(content)) {
    const below = key === "__proto__" ? [] : lostKey(value);
    if (below) return [key, ...below];
  }
  return undefined;
}

/** Parses JSON; undefined for a text that isn't JSON. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Levels of an answer: as deep as anything that looks into it goes. How much may stand in it is bounded by its bytes. */
export const maxAnswerLevels = 100;

/** The JSON of a platform's answer; undefined when it is none, or too deep. */
export function answerIn(text: string): unknown {
  const answer = jsonIn(text);
  return isDeeper(answer, maxAnswerLevels) ? undefined : answer;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  for (const inner of Array.isArray(value) ? value : Object.values(value)) if (isDeeper(inner, levels - 1)) return true;
  return false;
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

/** Makes a list of one value or of a list; undefined for no value. */
export const listOf = (value: unknown): unknown =>
  value === undefined || value === null ? undefined : Array.isArray(value) ? value : [value];

const failureWords = new Set(["failure", "error"]);

/**
 * The platform's message when it refused a call, undefined when it did not: `{status: "failure" | "error", message}` or
 * `{error, message?}`, each of them also under `body`, with any HTTP status.
 * @param parts where its words about the call stand
 */
export function refusalIn(wire: unknown, parts: readonly string[] = ["", "body"]): string | undefined {
  for (const path of parts) {
    const part = at(wire, path);
    if (!isObject(part)) continue;
    const { status, error, message, ok } = part;
    const text = [error, message].filter((each) => typeof each === "string" && each !== "").join(": ");
    const isFailure = typeof status === "string" && failureWords.has(status.toLowerCase());
    if (isFailure) return text || `status ${status}`;
    if ((typeof error === "string" && error !== "") || ok === false) return text || "not ok";
  }
  return undefined;
}

/** True for an answer that says something about the call which is neither the documented success nor a refusal. */
export function isStrange(wire: unknown): boolean {
  if (!isObject(wire)) return false;
  const { status = "success", error, errors, success } = wire;
  return status !== "success" || (error ?? errors ?? null) !== null || success === false;
}
