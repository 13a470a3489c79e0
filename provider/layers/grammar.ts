import { z } from "zod";

/** Where something stands in a file, key by key. */
export type KeyPath = readonly PropertyKey[];

/** Knowledge about a kind of file that the merge of its layers needs. */
export interface Grammar {
  /** The singular name of a map's entries if `null` removes one. */
  named: (map: KeyPath) => string | undefined;
  /** True when a key of a map with fixed keys holds a list: then `key+` and `key-` work on it. */
  hasList: (map: KeyPath, key: string) => boolean;
  /** True when `rows+`, `rows~` and `rows-` may edit the rows of a map. */
  hasRows: (map: KeyPath) => boolean;
  /** True for a list that is gathered from all layers instead of being replaced. */
  gathers: (list: KeyPath) => boolean;
}

/** The grammar of a schema whose layers name no things and gather nothing. */
export const makePlainGrammar = (schema: z.ZodType): Grammar => ({
  named: () => undefined,
  hasList: (map, key) => hasList(schema, map, key),
  hasRows: () => false,
  gathers: () => false,
});

/** True when a value at a path may be a map with this key, which holds a list. */
export const hasList = (schema: z.core.$ZodType, map: KeyPath, key: string): boolean =>
  formsAt(schema, map).some(
    (form) =>
      form instanceof z.ZodObject &&
      formsAt(form, []).length > 0 &&
      Object.hasOwn(form.shape, key) &&
      formsAt(form, [key]).some((value) => value instanceof z.ZodArray),
  );

/** The schemas that a value at a path may have. */
export function formsAt(schema: z.core.$ZodType, path: KeyPath): z.core.$ZodType[] {
  const [step, ...rest] = path;
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodPrefault
  ) {
    return formsAt(schema.unwrap(), path);
  }
  if (schema instanceof z.ZodPipe) {
    // The schema stands behind a preprocessing step, and before a transformation.
    const inner = schema.in instanceof z.ZodTransform ? [schema.out] : [schema.in, schema.out];
    return inner.flatMap((one) => formsAt(one, path));
  }
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => formsAt(option, path));
  if (step === undefined) return [schema];
  if (schema instanceof z.ZodRecord) return formsAt(schema.valueType, rest);
  if (schema instanceof z.ZodArray) return formsAt(schema.element, rest);
  const inner = schema instanceof z.ZodObject ? (schema.shape as z.core.$ZodShape)[String(step)] : undefined;
  return inner ? formsAt(inner, rest) : [];
}
