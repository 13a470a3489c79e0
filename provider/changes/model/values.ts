import { secretText, type Change, type Field } from "./changeSet.ts";

/** Characters of a value that are kept: a cell may have megabytes. */
const maxCharacters = 500;

/** A value as a report keeps it: a long one as text that is cut. */
export function kept(value: unknown): unknown {
  if (value === undefined || value === null || typeof value === "number" || typeof value === "boolean") return value;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (text.length <= maxCharacters) return value;
  return `${text.slice(0, maxCharacters)}… (${text.length} characters)`;
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
  const shown = (value: unknown): unknown => (secret ? secretText : kept(value));
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
