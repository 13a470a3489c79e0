/** A JSON object as it stands on the wire. */
export type Json = Record<string, unknown>;

export const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The value at a dotted path, or undefined; `""` is the whole. */
export function at(wire: unknown, path: string): unknown {
  if (path === "") return wire;
  let value = wire;
  for (const step of path.split(".")) {
    if (!isObject(value) || !Object.hasOwn(value, step)) return undefined;
    value = value[step];
  }
  return value;
}

/** The first value that is there, looking in every place where the platform has been seen to put it. */
export function firstOf(wire: unknown, ...paths: string[]): unknown {
  for (const path of paths) {
    const value = at(wire, path);
    if (value !== undefined) return value;
  }
  return undefined;
}

/**
 * What was read, from the first place that has it; undefined when there is nothing. An answer with neither `status` nor
 * `body` is none of the platform's: then it is the whole, for the endpoint's schema to refuse, so that a stranger's
 * `{}` does not read as "it is gone".
 */
export function readIn(wire: unknown, ...paths: string[]): unknown {
  const found = firstOf(wire, ...paths);
  if (found !== undefined) return absent(found);
  const ours = at(wire, "status") !== undefined || at(wire, "body") !== undefined;
  return ours ? undefined : wire;
}

/** Undefined for what stands for nothing: null and an empty object. */
const absent = (value: unknown): unknown =>
  value === null || (isObject(value) && Object.keys(value).length === 0) ? undefined : value;

/** A list written as one value or as many. */
export const listOf = (value: unknown): unknown =>
  value === undefined || value === null ? undefined : Array.isArray(value) ? value : [value];

const failureWords = new Set(["failure", "fail", "failed", "error"]);

/**
 * The platform's words when it refused, undefined when it did not. Seen: `{status: "failure" | "error", message}`, the
 * same under `body`, and `{error, message?}`; all of them with any HTTP status, 200 included.
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
