/** The problem of a number whose value differs from its digits. */
export const rounded = "has more digits than a number keeps: make it a text";

/** True when the value of a number differs from its digits. */
export const isRounded = (digits: string, value: number): boolean =>
  !Number.isSafeInteger(value) &&
  /^-?\d+$/.test(digits) &&
  String(value) !== digits &&
  BigInt(digits) !== BigInt(value);

/** Digits of a JSON text that no number keeps, the first ones. */
export function findRounded(text: string): string | undefined {
  if (!/\d{16}/.test(text)) return undefined;
  let found: string | undefined;
  const see = (_: string, value: unknown, { source = "" }: { source?: string } = {}): unknown => {
    if (typeof value === "number" && isRounded(source, value)) found ??= source;
    return value;
  };
  JSON.parse(text, see); // Node also passes the source text of a number
  return found;
}
