/** True for a text that a header can hold (RFC 9110): no line break, no control character, nothing beyond Latin-1. */
export const isHeaderValue = (value: string): boolean => /^[\t\x20-\x7e\x80-\xff]*$/.test(value);

/** Why an option can't be sent; its value is a secret and is not repeated. */
export const noHeaderValue =
  "holds a line break or another character that no header can have: set it again, without what surrounds it";

/** Throws a TypeError that names the option whose value no header can have. */
export function assertHeaders(options: {
  readonly [Name in "apiKey" | "token" | "userId"]?: string | undefined;
}): void {
  for (const name of ["apiKey", "token", "userId"] as const) {
    if (!isHeaderValue(options[name] ?? "")) throw new TypeError(`${name} ${noHeaderValue}`);
  }
}
