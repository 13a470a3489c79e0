import { z } from "zod";
import { answerRemoved } from "../../machine/removed.ts";
import { nearest } from "../../machine/spelling.ts";
import { kinds, unbroken, firstLines, maxReported } from "../../platform/messages/text.ts";
import {
  find,
  keyPlace,
  type Problem,
  toPlainValue,
  type Value,
  valuePlace,
  describePlace,
} from "../layers/document.ts";
import { formsAt, type KeyPath } from "../layers/layers.ts";
import { grammar } from "./schema.ts";

/** Everything that is wrong with a file, each at its place. */
export class EnvironmentError extends Error {
  override readonly name = "EnvironmentError";

  constructor(file: string, problems: readonly Problem[]) {
    const lines = [
      ...new Set(ordered(problems).map(({ at, message }) => unbroken(`${describePlace(at)}: ${message}`))),
    ];
    const count = lines.length === 1 ? "a problem" : `${lines.length} problems`;
    super([`environment ${unbroken(file)} has ${count}:`, ...firstLines(lines).map((line) => `  ${line}`)].join("\n"));
  }
}

function ordered(problems: readonly Problem[]): Problem[] {
  const files = new Map<string, number>();
  for (const { at } of problems) if (!files.has(at.file)) files.set(at.file, files.size);
  const byFile = (problem: Problem): number => files.get(problem.at.file) ?? 0;
  return problems.toSorted(
    (a, b) => byFile(a) - byFile(b) || a.at.line - b.at.line || a.at.column - b.at.column || compare(a, b),
  );
}

const compare = (a: Problem, b: Problem): number => (a.message < b.message ? -1 : a.message > b.message ? 1 : 0);

/** Problems that a schema finds in a value, each at its place. */
export function problemsOf(error: z.ZodError, schema: z.ZodType, root: Value): Problem[] {
  const found = error.issues.flatMap((issue) => describeIssue(issue, [], schema, root));
  // A misspelt key is one problem, not also a missing one.
  const meant = new Set(found.map((problem) => problem.meant));
  return found.filter(({ missing }) => missing === undefined || !meant.has(missing));
}

/** A problem; of a misspelt key with the path that was meant, of a missing one with its own. */
interface Found extends Problem {
  meant?: string | undefined;
  missing?: string;
}

const pathOf = (path: KeyPath): string => JSON.stringify(path);

/** The name of the value at a path for messages: the key, or an item of a list. */
function nameOf(path: KeyPath): string {
  const last = path.at(-1) ?? "the file";
  return typeof last === "number" ? `${nameOf(path.slice(0, -1))}[${last}]` : String(last);
}

type Issue = z.core.$ZodIssue;

function describeIssue(issue: Issue, above: KeyPath, schema: z.ZodType, root: Value): Found[] {
  const path = [...above, ...issue.path];
  const name = nameOf(path);
  // A scalar may stand for a map: its own value is then what is wrong below it.
  const short = find(root, path.slice(0, -1))?.value;
  const value = find(root, path)?.value ?? (short?.kind === "scalar" ? short : undefined);
  const at = value?.at ?? valuePlace(root, path);
  const missing = (): Found[] => {
    const message = `${name} is missing; add it${meantBelow(root, path.slice(0, -1))}`;
    return [{ at: keyPlace(root, path), message, missing: pathOf(path) }];
  };
  switch (issue.code) {
    case "unrecognized_keys": {
      const known = keysAt(schema, path, issue.keys);
      return issue.keys.map((key, index) => {
        const at = keyPlace(root, [...path, key]);
        // A problem that is not reported needs no advice, which takes time.
        if (index >= maxReported) return { at, message: `unknown key "${key}"; remove it` };
        const gone =
          path.at(-1) === "habits"
            ? answerRemoved("habits", key)
            : answerRemoved("environmentKeys", [...path.slice(0, 1), key].join("."));
        if (gone !== undefined) return { at, message: gone };
        const meant = pathOf([...path, nearest(key, known) ?? key]);
        return { at, message: `unknown key "${key}"; ${suggestion(key, known)}`, meant };
      });
    }
    case "invalid_union":
      return closest(issue.errors).flatMap((inner) => describeIssue(inner, path, schema, root));
    case "invalid_key": {
      const reason = issue.issues[0]?.message ?? "is not a name";
      return [{ at: keyPlace(root, path), message: `"${name}" ${reason}; correct the key` }];
    }
    case "invalid_type":
      if (!value) return missing();
      return [
        { at, message: `${name} must be ${a(issue.expected)}, not ${kindOf(value)}${remedy(issue.expected, value)}` },
      ];
    case "invalid_value": {
      if (!value) return missing();
      const gone = answerRemoved("environmentKeys", `${[...path.slice(0, 1), name].join(".")}: ${toText(value)}`);
      if (gone !== undefined) return [{ at, message: gone }];
      const words = issue.values.map(String);
      return [{ at, message: `${name} must be ${listed(words)}, not ${kindOf(value)}; choose one of them` }];
    }
    case "too_small":
      if (issue.origin === "number") return [{ at, message: `${name} ${bound(issue)}; raise it` }];
      return [{ at, message: `${name} must not be empty; give it a value or remove it` }];
    case "too_big":
      if (issue.origin === "number") return [{ at, message: `${name} ${upperBound(issue)}; lower it` }];
      return [{ at, message: `${name} is too long; shorten it` }];
    default:
      return [{ at, message: `${name} ${issue.message}${value ? `, not ${kindOf(value)}` : ""}; correct it` }];
  }
}

/**
 * Hints at a mistyped name: an incomplete entry of an upper file, which no lower file has, beside entries that lower
 * files have.
 */
function meantBelow(root: Value, path: KeyPath): string {
  const own = find(root, path)?.value;
  const beside = find(root, path.slice(0, -1))?.value;
  if (!grammar.named(path.slice(0, -1)) || own?.kind !== "map" || beside?.kind !== "map") return "";
  const { file } = own.at;
  if ([...own.entries.values()].some(({ at }) => at.file !== file)) return "";
  const below = [...beside.entries].filter(([, { at }]) => at.file !== file).map(([key]) => key);
  if (below.length === 0) return "";
  const name = nameOf(path);
  return `, or correct "${name}", which no file that this one extends has: ${suggestion(name, below)}`;
}

const bound = (issue: { minimum: number | bigint; inclusive?: boolean | undefined }): string =>
  `must be ${issue.inclusive === false ? "more than" : "at least"} ${issue.minimum}`;

/** The schema's own words, where it has some. */
const upperBound = ({ maximum, message }: { maximum: number | bigint; message: string }): string =>
  message.startsWith("Too big") ? `must be at most ${maximum}` : message;

/** Picks the form that a value was most likely meant to have. */
function closest(forms: readonly Issue[][]): Issue[] {
  const otherKind = (issues: Issue[]): number =>
    issues.some((issue) => issue.path.length === 0 && ["invalid_type", "invalid_value"].includes(issue.code)) ? 1 : 0;
  const [first] = forms.toSorted((a, b) => otherKind(a) - otherKind(b) || a.length - b.length);
  return first ?? [];
}

const a = (expected: string): string => kinds[expected] ?? expected;

/** A value as a message names it; text is quoted, and cut when it is long. */
function kindOf(value: Value): string {
  if (value.kind !== "scalar") return value.kind === "map" ? "a map" : "a list";
  const { value: scalar } = value;
  if (scalar === null || scalar === undefined) return "nothing";
  if (typeof scalar === "string") return `"${scalar.length > 40 ? `${scalar.slice(0, 40)}…` : scalar}"`;
  return typeof scalar === "number" ? `the number ${scalar}` : JSON.stringify(scalar);
}

const toText = (value: Value): string => (value.kind === "scalar" ? String(value.value) : "");

/** Names a value in a message that expects another one. */
export const valueNamed = (value: Value | undefined): string =>
  value === undefined ? "nothing" : value.kind === "list" ? JSON.stringify(toPlainValue(value)) : kindOf(value);

function remedy(expected: string, value: Value): string {
  if (value.kind !== "scalar") return "; correct it";
  if (value.value === null) return "; give it a value or remove the key";
  return expected === "string" ? "; put it in quotes" : "; correct it";
}

function listed(words: readonly string[]): string {
  const last = words.at(-1) ?? "";
  return words.length < 2 ? last : `${words.slice(0, -1).join(", ")} or ${last}`;
}

/** The keys that a map may have at a path: of several forms, those of the one that has most in common with it. */
function keysAt(schema: z.ZodType, path: KeyPath, unknown: readonly string[]): string[] {
  const forms = formsAt(schema, path).filter((form): form is z.ZodObject => form instanceof z.ZodObject);
  const keys = [...new Set(forms.flatMap((form) => Object.keys(form.shape)))];
  return keys.filter((key) => !unknown.includes(key));
}

/** Suggests a known word for an unknown one. */
export function suggestion(word: string, known: readonly string[]): string {
  const near = nearest(word, known);
  if (near !== undefined) return `did you mean "${near}"?`;
  return known.length === 0 ? "remove it" : `there is ${known.join(", ")}`;
}
