import { quote } from "../../../platform/messages/text.ts";
/** A name that JavaScript takes for something else: what stands under it would vanish on the way. */
export const nameless = "__proto__";
export const noName = `${quote(nameless)} can't be a label; rename it`;

/** True when a text may contain that name, also spelled by codes. */
export const mayHold = (text: string): boolean => /proto|\\u/i.test(text);

/** True when a value has that name as a key, at any depth. */
export const holds = (value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  (Object.hasOwn(value, nameless) || Object.values(value as Record<string, unknown>).some(holds));
