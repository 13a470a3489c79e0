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

/** A list written as one value or as many. */
export const listOf = (value: unknown): unknown =>
  value === undefined || value === null ? undefined : Array.isArray(value) ? value : [value];

/**
 * The envelope of writes: the documented form has the values beside `status`, readers in the field look under `body`,
 * so both are sent.
 */
export const written = (answer: Json): Json => ({ status: "success", ...answer, body: { ...answer } });

/** The envelope of reads. */
export const read = (answer: unknown): Json => ({ status: "success", body: answer });

const failureWords = new Set(["failure", "fail", "failed", "error"]);

/**
 * What the platform said when it refused, undefined when it did not. Seen: `{status: "failure" | "error", message}`, the
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
