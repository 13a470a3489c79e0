import type { z } from "zod";
const longest = 1000;

// Escape sequences that colour or move, as terminals know them (ECMA-48).
const sequences = new RegExp(
  "\\u001b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\\u0007\\u001b]*(?:\\u0007|\\u001b\\\\)?|[ -~])",
  "g",
);
const invisible = /[\p{Cc}\p{Cf}\u2028\u2029\u{e0000}-\u{e007f}]/gu;

/** A text of the platform's as one line that anybody may print: without colour, what is not seen as its code, and not endless. */
export function printableLine(text: string): string {
  const line = text
    .slice(0, 4 * longest)
    .replace(sequences, "")
    .replace(/\s+/g, " ")
    .trim()
    .replace(invisible, codeOf);
  return line.length > longest ? `${line.slice(0, longest)}…` : line;
}

/** A text of several lines without what is not seen in them: that stands there as its code. */
export const withCodes = (text: string): string =>
  text.replace(invisible, (char) => (char === "\n" || char === "\t" ? char : codeOf(char)));

const codeOf = (char: string): string => `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`;

/** A text with its line breaks as withCodes text: names and values of others begin no line. */
export const unbroken = (text: string): string => text.replace(/\r\n?|[\n\u0085\u2028\u2029]/g, "\\n");

/** A name or a value of others in quotes. */
export const quote = (text: string): string => `"${unbroken(text)}"`;

/** Steps by which texts become one, and what they differ by before each of them. */
const foldings: readonly (readonly [what: string, fold: (text: string) => string])[] = [
  ["Unicode form", (text) => text.normalize("NFC")],
  ["invisible characters", (text) => text.replaceAll(/\p{Cf}/gu, "")],
  ["spaces", (text) => text.replaceAll(/\s+/g, " ").trim()],
  ["letter case", (text) => text.toLowerCase()],
];

/** A text without what few people see. */
export const folded = (text: string): string => foldings.reduce((rest, [, fold]) => fold(rest), text);

/** What alone two texts differ by that look the same, or nearly: `Unicode form`; undefined for other texts. */
export function differenceOf(one: string, other: string): string | undefined {
  let [a, b] = [one, other];
  if (a === b) return undefined;
  for (const [what, fold] of foldings) {
    [a, b] = [fold(a), fold(b)];
    if (a === b) return what;
  }
  return undefined;
}

/** ` (another Unicode form)` behind two values that look the same; nothing behind others. */
export function besideAlike(one: unknown, other: unknown): string {
  const what = typeof one === "string" && typeof other === "string" ? differenceOf(one, other) : undefined;
  return what === undefined || what === "letter case" ? "" : ` (the two differ by ${what} alone)`;
}

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

type Raw = z.core.$ZodRawIssue;

/**
 * Sentences for people about a value that does not fit its schema, where the schema has no words of its own: the rest
 * of a sentence that begins with the value's name. For the option `error` of zod's `parse` and `safeParse`.
 */
export const sentences = {
  error: (issue: Raw): string =>
    issue.input === undefined && issue.code !== "custom" ? "is required" : describeIssue(issue),
};

function describeIssue(issue: Raw): string {
  switch (issue.code) {
    case "invalid_type":
      return `must be ${kinds[issue.expected] ?? issue.expected}, not ${kindOf(issue.input)}`;
    case "invalid_value":
      return `must be ${either(issue.values.map(String))}`;
    case "too_small":
    case "too_big":
      return sized(issue);
    case "unrecognized_keys":
      return firstLines(issue.keys.map((key) => `has no "${key}"`)).join("; ") + known(issue);
    case "invalid_union":
      return union(issue.errors);
    case "invalid_key":
      return issue.issues[0]?.message ?? "has a key that does not fit";
    case "not_multiple_of":
      return `must be a multiple of ${String(issue.divisor)}`;
    case "invalid_format":
      return `must be ${formats[issue.format] ?? `of the form ${issue.pattern ?? issue.format}`}`;
    default:
      return "does not fit";
  }
}

/** Names that people use for kinds of values. */
export const kinds: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  object: "a map",
  record: "a map",
  array: "a list",
  null: "null",
};

const formats: Readonly<Record<string, string>> = { url: "an address", datetime: "a date and time", date: "a date" };

/** A value's kind; never the value, which may be a secret. */
export function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "number") return Number.isInteger(value) ? "a number" : "a fraction";
  return kinds[typeof value] ?? typeof value;
}

function sized(issue: Extract<Raw, { code: "too_small" | "too_big" }>): string {
  const [least, bound] = issue.code === "too_small" ? [true, issue.minimum] : [false, issue.maximum];
  const count = String(bound);
  if (["number", "int", "bigint"].includes(issue.origin)) {
    if (issue.inclusive === false) return `must be ${least ? "more" : "less"} than ${count}`;
    return `must be at ${least ? "least" : "most"} ${count}`;
  }
  if (least && Number(bound) === 1) return "must not be empty";
  const of = issue.origin === "string" ? "characters" : "entries";
  return `must have at ${least ? "least" : "most"} ${count} ${of}`;
}

/** Describes a value with several forms: names all where none comes near, else the problems of the nearest one. */
function union(forms: readonly (readonly z.core.$ZodIssue[])[]): string {
  const ofKind = forms.filter((issues) => issues.every((issue) => issue.path.length > 0 || issue.code === keys));
  const [form] = ofKind.toSorted((a, b) => mistakesIn(a) - mistakesIn(b));
  const issue = form?.find(({ code }) => code === keys) ?? form?.[0];
  if (issue) return `${issue.path.join(".")} ${issue.message}`.trimStart();
  const reasons = [...new Set(forms.flatMap((issues) => issues.slice(0, 1).map(({ message }) => message)))];
  const wanted = reasons.map((reason) => /^must be (.*?)(?:, not (.*))?$/.exec(reason));
  const [first] = reasons;
  if (first === undefined || wanted.includes(null)) return first ?? "does not fit";
  const kind = wanted.map((each) => each?.[2]).find((each) => each !== undefined);
  const all = [...new Set(wanted.map((each) => each?.[1] ?? ""))];
  return `must be ${either(all)}${kind === undefined ? "" : `, not ${kind}`}`;
}

const keys = "unrecognized_keys";
const mistakesIn = (issues: readonly z.core.$ZodIssue[]): number =>
  issues.reduce((sum, issue) => sum + (issue.code === keys ? issue.keys.length : 1), 0);

/** The names that there are. */
function known({ inst }: Raw): string {
  const shape = inst && "shape" in inst && typeof inst.shape === "object" && inst.shape ? Object.keys(inst.shape) : [];
  return shape.length === 0 ? "" : `; there is ${shape.join(", ")}`;
}

const either = (words: readonly string[]): string =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1) ?? ""}`;
