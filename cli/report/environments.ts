import { z } from "zod";
import { sentences, unbroken } from "../../platform/messages/text.ts";
import { type Declaration, type HeldRule, readEnvironment } from "../../provider/environment/declaration.ts";
import { textIfAny } from "../../provider/files/files.ts";
import {
  describePlace,
  find,
  keyPlace,
  parse,
  type Place,
  type Problem,
  toPlainValue,
  type Value,
  valuePlace,
} from "../../provider/layers/document.ts";
import { toShownPath } from "../../provider/layers/layers.ts";
import { type Note, placed } from "./changeSet.ts";

/** Why a command goes no further, or leaves something, in one sentence with what to do. */
export class DataRefusal extends Error {
  override readonly name: string = "DataRefusal";
}

/** Where the environments of a project are listed, beside Pulumi.yaml. */
export const environmentsFile = "environments.yaml";

/** File beside Pulumi.yaml that lists accepted drift. */
export const driftFile = "drift.yaml";

/** Environments of one project. */
export const maxEnvironments = 1_000;

const entry = z.strictObject({
  stack: z.string().min(1).optional(),
  file: z.string().min(1),
  endpoint: z.string().min(1).optional(),
  after: z
    .array(z.string())
    .or(z.string().transform((one) => [one]))
    .optional(),
});
const environments = z
  .record(
    z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]*$/, "must consist of letters, digits, _, . and -; correct the name"),
    entry,
  )
  .refine((all) => Object.keys(all).length <= maxEnvironments, {
    message: `has more than ${maxEnvironments} environments; split the project`,
  });

/** An environment: its stack (default: its own name), its file beside Pulumi.yaml, its platform. */
export interface EnvironmentEntry {
  name: string;
  stack: string;
  file: string;
  endpoint?: string | undefined;
  after: readonly string[];
}

/** Of an address its origin alone, since the rest may be a credential; anything else as it is. */
export const originOf = (text = ""): string =>
  /^https?:/.test(text) && URL.canParse(text) ? new URL(text).origin : text;

/**
 * Reads a small YAML file by its schema. Throws a DataRefusal that names each mistake at its place.
 * @param empty what a file without content stands for
 */
export function checkedIn<Content>(
  text: string,
  file: string,
  schema: z.ZodType<Content>,
  empty?: Content,
): { data: Content; at: (path: readonly PropertyKey[]) => string } {
  const problems: Problem[] = [];
  const root = parse(text, file, (problem) => problems.push(problem));
  const placeOf = (path: readonly PropertyKey[]): Place =>
    root ? (find(root, path)?.value.at ?? valuePlace(root, path)) : { file, line: 1, column: 1 };
  const read = schema.safeParse((root && toPlainValue(root)) ?? empty, sentences);
  for (const { path, message } of (problems.length === 0 && read.error?.issues) || []) {
    const name = path.filter((step) => typeof step === "string").join(".");
    problems.push({ at: placeOf(path), message: `${name} ${message}`.trim() });
  }
  if (problems.length > 0 || !read.success)
    throw new DataRefusal(problems.map(({ at, message }) => `${describePlace(at)}: ${unbroken(message)}`).join("\n"));
  return { data: read.data, at: (path) => describePlace(placeOf(path)) };
}

/** The entries of a text of environments.yaml. Throws a DataRefusal. */
export function environmentsIn(text: string): EnvironmentEntry[] {
  const { data } = checkedIn(text, environmentsFile, environments);
  return Object.entries(data).map(([name, { stack = name, after = [], ...rest }]) => ({ name, stack, after, ...rest }));
}

/** The entries of a text that was there before: none of one with a mistake. */
export function formerEnvironments(text = "{}"): EnvironmentEntry[] {
  try {
    return environmentsIn(text);
  } catch (error) {
    if (error instanceof DataRefusal) return [];
    throw error;
  }
}

/** The environments that a project lists; undefined where it has no such file. Throws a DataRefusal. */
export function readEnvironments(folder: string): EnvironmentEntry[] | undefined {
  const text = textIfAny(folder, environmentsFile);
  return text === undefined ? undefined : environmentsIn(text);
}

/** The environment of a name, or of a stack. Throws a DataRefusal. */
export function entryNamed(entries: readonly EnvironmentEntry[], name: string): EnvironmentEntry {
  const found = entries.find((each) => each.name === name) ?? entries.find(({ stack }) => stack === name);
  if (found) return found;
  const names = entries.map((each) => each.name).join(", ");
  throw new DataRefusal(`${environmentsFile} does not list ${name}; there is ${names || "none"}`);
}

/** An Environment file as it was read: what it declares, and where. */
export interface Declared {
  declaration: Declaration;
  /** The file, relative to the folder; empty where nobody declares anything. */
  file: string;
  /** The folder that sources are relative to. */
  folder: string;
  /** Where the key at a path stands, `prod.yaml:7:3`. */
  place: (path: readonly PropertyKey[]) => string;
  /** Its rules, and where each stands. */
  rules: readonly HeldRule[];
  /** Why a source is not read although it is there: a link, a submodule, a pointer of Git LFS. */
  unread?: (source: string) => string | undefined;
  /** The merged content of the files, with values of the configuration as they are written, and the files. */
  document?: { root: Value; files: string[] };
}

/** Result of reading an Environment file. */
export interface EnvironmentReading {
  /** Only where nothing is wrong but broken rules. */
  declared?: Declared;
  /** The parts without a mistake; its rules for changes hold even where the rest is wrong. */
  parts?: Declaration | undefined;
  problems: Note[];
  /** The files that it consists of, by their names, each before what it extends. */
  files: readonly string[];
  /** Files that it extends and that are not there. */
  missing: readonly string[];
}

/**
 * Reads an Environment file; what is wrong with it are problems. There is a declaration where they are broken rules alone.
 * @param held rules of another version that hold as well
 */
export function readDeclaration(file: string, folder: string, held: readonly HeldRule[] = []): EnvironmentReading {
  const { declared, layers, root, problems, isWhole } = readEnvironment(file, folder, undefined, held);
  const notes = notesOf(problems);
  const files = [...new Set([file, ...layers.trees.map(({ at }) => at.file).toReversed()])];
  const missing = layers.files.map((path) => toShownPath(path, folder)).filter((name) => !files.includes(name));
  const reading = { parts: declared, problems: notes, files, missing };
  if (!isWhole || !declared || !root) return reading;
  const place = (path: readonly PropertyKey[]): string => placeIn(root, path);
  const rules = declared.rules.map((rule, index) => ({ rule, at: keyPlace(root, ["rules", index]) }));
  // A file that breaks a rule is shown, and can't be approved.
  const document = notes.length > 0 ? {} : { document: { root, files } };
  return { ...reading, declared: { declaration: declared, file, folder, place, rules, ...document } };
}

/** What a file declares, in which nothing is wrong. Throws a DataRefusal that begins with these words. */
export function sound(
  { declared, problems }: Pick<EnvironmentReading, "declared" | "problems">,
  words: string,
): Declared {
  if (declared && problems.length === 0) return declared;
  throw new DataRefusal(`${words}: ${problems.slice(0, 3).map(placed).join("; ") || "it declares nothing"}`);
}

/** An empty declaration. */
export const declareNothing = (folder: string): Declared => ({
  declaration: {
    organizations: {},
    seeds: {},
    apps: {},
    notifications: {},
    rules: [],
    seedOrder: [],
    fields: {},
    secrets: [],
  },
  file: "",
  folder,
  place: () => "",
  rules: [],
});

const placeIn = (root: Value, path: readonly PropertyKey[]): string =>
  describePlace(path.length === 0 ? valuePlace(root, path) : keyPlace(root, path));

const notesOf = (problems: readonly Problem[]): Note[] => {
  const notes = problems.map(({ at, message }) => ({ place: describePlace(at), text: message }));
  return [...new Map(notes.map((note) => [JSON.stringify(note), note])).values()];
};
