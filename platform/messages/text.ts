const longest = 1000;

// Escape sequences that colour or move, as terminals know them (ECMA-48).
const sequences = new RegExp(
  "\\u001b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\\u0007\\u001b]*(?:\\u0007|\\u001b\\\\)?|[ -~])",
  "g",
);
const unseen = /[\p{Cc}\p{Cf}\u2028\u2029\u{e0000}-\u{e007f}]/gu;

/** A text of the platform's as one line that anybody may print: without colour, what is not seen as its code, and not endless. */
export function printableLine(text: string): string {
  const line = text
    .slice(0, 4 * longest)
    .replace(sequences, "")
    .replace(/\s+/g, " ")
    .trim()
    .replace(unseen, codeOf);
  return line.length > longest ? `${line.slice(0, longest)}…` : line;
}

/** A text of several lines without what is not seen in them: that stands there as its code. */
export const withCodes = (text: string): string =>
  text.replace(unseen, (char) => (char === "\n" || char === "\t" ? char : codeOf(char)));

const codeOf = (char: string): string => `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`;

/** A text with its line breaks as withCodes text: names and values of others begin no line. */
export const unbroken = (text: string): string => text.replace(/\r\n?|[\n\u0085\u2028\u2029]/g, "\\n");

/** A name or a value of others in quotes. */
export const quote = (text: string): string => `"${unbroken(text)}"`;

const plurals: Readonly<Record<string, string>> = { person: "people", entry: "entries" };

/** A count with its noun: `1 row`, `2 rows`. */
export const formatCount = (count: number, noun: string): string =>
  `${count} ${count === 1 ? noun : (plurals[noun] ?? `${noun}s`)}`;

/** Counts that are not zero, for people: `2 added, 1 removed`. */
export const formatCounts = (counts: readonly (readonly [count: number, what: string])[]): string =>
  counts.flatMap(([count, what]) => (count > 0 ? `${count} ${what}` : [])).join(", ");

/** The first few of many, for people. */
export function some(names: readonly string[], max: number): string {
  const more = names.length > max ? ` and ${names.length - max} more` : "";
  return names.slice(0, max).join(", ") + more;
}

/** Problems of one kind that are reported at once: nobody reads more of them. */
export const maxReported = 50;

/** The first lines, and how many there are beside. */
export const firstLines = (lines: readonly string[]): string[] =>
  lines.length > maxReported ? [...lines.slice(0, maxReported), `and ${lines.length - maxReported} more`] : [...lines];
