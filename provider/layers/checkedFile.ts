import { dirname, isAbsolute, relative, resolve } from "node:path";
import { z } from "zod";
import { answerRemoved } from "../../machine/removed.ts";
import { nearest } from "../../machine/spelling.ts";
import { lostKey } from "../../platform/contract/wire.ts";
import { sentences, firstLines, maxReported } from "../../platform/messages/text.ts";
import { profile, type Profile } from "../../platform/profile/profile.ts";
import { absent, maxMegabytesOfLayer, textOrReason } from "../files/files.ts";
import { find, keyPlace, type Place, type Problem, toPlainValue, type Value, describePlace } from "./document.ts";
import { formsAt, type Grammar, loadLayers, makePlainGrammar, mergeLayers } from "./layers.ts";

// Files whose whole content one schema describes: each mistake is named with its place.

/** A wrong file. `message` has one line for each mistake, with file, line and column where they are known. */
export class FileError extends Error {
  constructor(mistakes: string[]) {
    super(firstLines(mistakes).join("\n"));
    this.name = "FileError";
  }
}

/** Where the value at a path stands, for people. */
type PlaceOf = (path: PropertyKey[]) => string;

/** The text of a file; throws a FileError that names it as `what`. */
export function textOf(file: string, what: string, directory: string): string {
  const found = textOrReason(directory, resolve(file), maxMegabytesOfLayer);
  if ("text" in found) return found.text;
  const advice = found.reason === absent ? "; correct its path" : "";
  throw new FileError([`the ${what} ${file} can't be read: ${found.reason}${advice}`]);
}

/** Parses YAML with the files that it extends; `name` is the file's path. Throws a FileError. */
export function parseLayers(
  text: string,
  name: string,
  directory: string,
  grammar: Grammar,
): { value: Value | undefined; content: unknown; at: PlaceOf } {
  const problems: Problem[] = [];
  const report = (problem: Problem): void => void problems.push(problem);
  const nameOf = (path: string): string => (isAbsolute(name) ? path : relative("", path));
  const layers = loadLayers(resolve(name), { folder: directory, nameOf, grammar, text }, report);
  const { value } = mergeLayers(layers, report);
  if (problems.length > 0) throw new FileError(problems.map(({ at, message }) => `${describePlace(at)}: ${message}`));
  const at: PlaceOf =
    value && value.kind !== "scalar" ? (path) => describePlace(nearestPlace(value, path)) : () => `${name}:1:1`;
  return { value, content: (value && toPlainValue(value)) ?? {}, at };
}

/** Where the value at a path begins, or that of the nearest thing around it. */
const nearestPlace = (root: Value, path: readonly PropertyKey[]): Place =>
  path.length === 0 ? keyPlace(root, path) : (find(root, path)?.value.at ?? nearestPlace(root, path.slice(0, -1)));

/** The content by its schema, which lies at a path of the file. Throws a FileError. */
export function checkContent<Content>(
  schema: z.ZodType<Content>,
  content: unknown,
  place: PlaceOf,
  above: PropertyKey[] = [],
): Content {
  const lost = lostKey(content);
  if (lost) throw new FileError([`${place(lost)}: ${lost.join(".")}: a key can't have this name`]);
  const result = schema.safeParse(content, sentences);
  if (result.success) return result.data;
  throw new FileError(
    result.error.issues
      .flatMap((issue) => mistakes(issue, schema))
      .map(({ path, what }, index) => {
        if (index >= maxReported) return what; // it is only counted, and a place takes its time to find
        const whole = [...above, ...path];
        const name = whole.map(String).join(".");
        return `${place(whole)}: ${name === "" ? what : `${name}: ${what}`}`;
      }),
  );
}

/** Findings of a schema: each unknown key by itself, with a suggestion. */
function mistakes(issue: z.core.$ZodIssue, schema?: z.ZodType): { path: PropertyKey[]; what: string }[] {
  if (issue.code === "unrecognized_keys") {
    const forms = schema ? formsAt(schema, issue.path) : [];
    const known = forms.flatMap((form) => (form instanceof z.ZodObject ? Object.keys(form.shape) : []));
    return issue.keys.map((key, at) => {
      const gone = issue.path.at(-1) === "habits" ? answerRemoved("habits", key) : undefined;
      if (gone !== undefined) return { path: [...issue.path, key], what: gone };
      const near = at < maxReported ? nearest(key, known) : undefined;
      const meant = near === undefined ? "" : `; did you mean "${near}"?`;
      return { path: [...issue.path, key], what: `is not known here${meant}` };
    });
  }
  if (issue.code === "invalid_key") return [{ path: issue.path, what: issue.issues[0]?.message ?? issue.message }];
  return [{ path: issue.path, what: issue.message }];
}

/**
 * Reads `platform-profile.yaml`; undefined for none. `directory` is the folder of the program that names the file, which
 * must lie in that program's repository; without it any file will do. Throws a FileError.
 */
export function readProfile(name: string | undefined, directory?: string): Profile | undefined {
  if (name === undefined) return undefined;
  const file = resolve(directory ?? "", name);
  const from = directory ?? dirname(file);
  const { content, at } = parseLayers(textOf(file, "profile", from), file, from, makePlainGrammar(profile));
  return checkContent(profile, content, at);
}
