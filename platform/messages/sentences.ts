import type { z } from "zod";
import { firstLines } from "./text.ts";

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
