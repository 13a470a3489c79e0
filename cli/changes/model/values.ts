import { secretText, type Change, type Field } from "./changeSet.ts";

/** Characters of a value that are kept: a cell may have megabytes. */
const maxCharacters = 500;

/** Characters of a long value that stand before the first one that differs. */
const context = 40;

/** A value as a report keeps it: a long one as text that is cut, from shortly before `from` on. */
export function shortenValue(value: unknown, max = maxCharacters, from = 0): unknown {
  if (value === undefined || value === null || typeof value === "number" || typeof value === "boolean") return value;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (text.length <= max) return value;
  const start = Math.max(0, Math.min(from - context, text.length - max));
  const end = start + max < text.length ? "…" : "";
  return `${start > 0 ? "…" : ""}${text.slice(start, start + max)}${end} (${text.length} characters)`;
}

const asText = (value: unknown): string =>
  typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value);

/** Where two values begin to differ as texts. */
function firstDifference(one: unknown, other: unknown): number {
  const [a, b] = [asText(one), asText(other)];
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
}

/** A value as text in which nothing but its content counts: maps in the order of their keys. Nothing and null differ. */
export function stable(value: unknown): string {
  if (value === undefined) return "";
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

/** One field that differs. */
export function fieldOf(name: string, before: unknown, after: unknown, secret = false): Field {
  const from = firstDifference(before, after);
  const shown = (value: unknown): unknown => (secret ? secretText : shortenValue(value, maxCharacters, from));
  return {
    name,
    ...(before === undefined ? {} : { before: shown(before) }),
    ...(after === undefined ? {} : { after: shown(after) }),
    ...(secret ? { secret } : {}),
  };
}

type Values = Readonly<Record<string, unknown>>;

/** The fields that differ between two maps, in the order of the later one. */
export function fieldsOf(before: Values, after: Values, isSecret: (name: string) => boolean = () => false): Field[] {
  const names = [...new Set([...Object.keys(after), ...Object.keys(before)])];
  return names.flatMap((name) => {
    const [was, is] = [before[name], after[name]];
    return stable(was) === stable(is) ? [] : [fieldOf(name, was, is, isSecret(name))];
  });
}

/** Changes of settings, one for each field that differs; `place` finds the place of a setting in the declaration. */
export const settingChanges = (fields: readonly Field[], place?: (name: string) => string): Change[] =>
  fields.map((field) => ({
    kind: "setting",
    op: "change",
    name: field.name,
    fields: [field],
    ...(place && { place: place(field.name) }),
  }));
