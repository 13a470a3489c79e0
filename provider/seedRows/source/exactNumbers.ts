/** The problem of a number whose value differs from its digits. */
export const rounded = "has more digits than a number keeps: make it a text";

/** The digits of a number that count, and the power of ten that they begin with. */
function measure(text: string): string | undefined {
  const [, sign = "", whole, part = "", power = "0"] = /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const digits = (whole + part).replace(/^0+/, "");
  const exponent = digits.length - part.length + Number(power);
  const counted = digits.replace(/0+$/, "");
  return counted === "" ? "0" : `${sign === "-" ? "-" : ""}${counted}e${exponent}`;
}

/** True when the value of a number differs from its digits. */
export function isRounded(digits: string, value: number): boolean {
  if (!Number.isFinite(value)) return true;
  // A number keeps 15 digits in any case.
  if (digits.length <= 15 && !/e/i.test(digits)) return false;
  const written = measure(digits);
  return written !== undefined && written !== measure(String(value));
}

/** Digits of a JSON text that no number keeps, the first ones. */
export function findRounded(text: string): string | undefined {
  if (!/[\d.]{16}|(?:^|[:[,])\s*-?[\d.]+[eE]/.test(text)) return undefined;
  let found: string | undefined;
  const see = (_: string, value: unknown, { source = "" }: { source?: string } = {}): unknown => {
    if (typeof value === "number" && isRounded(source, value)) found ??= source;
    return value;
  };
  JSON.parse(text, see); // Node also passes the source text of a number
  return found;
}
