/** A value with a JSON form. Integers that are too large for a number are bigints. */
export type JsonValue = null | boolean | number | bigint | string | JsonValue[] | { [name: string]: JsonValue };

/** A JSON or YAML object, as opposed to a list, null or a plain value. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((element) => typeof element === "string");
}

/**
 * Writes JSON as Go's `encoding/json` does: sorted keys, `<`, `>` and `&` escaped. Pulumi's files and configuration must
 * be byte-identical to what Go's encoder writes, or the provider would seem changed; no npm library writes this form.
 */
export function goJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(goJson).join(",")}]`;
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "object" && value !== null) {
    const names = Object.keys(value).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    return `{${names.map((name) => `${quote(name)}:${goJson(value[name] ?? null)}`).join(",")}}`;
  }
  return typeof value === "string" ? quote(value) : JSON.stringify(value);
}

const quote = (text: string): string =>
  JSON.stringify(text).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
