import { z } from "zod";
import { sentences, unbroken } from "../../platform/messages/text.ts";
import { absent, maxMegabytesOfLayer, textOrReason } from "../../provider/files/files.ts";
import {
  describePlace,
  find,
  parse,
  type Place,
  type Problem,
  toPlainValue,
  type Value,
  valuePlace,
} from "../../provider/layers/document.ts";
import type { Note } from "./changeSet.ts";

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
    .union([
      z
        .string()
        .transform((one) => [one])
        .pipe(z.array(z.string())),
      z.array(z.string()),
    ])
    .optional(),
});
const environments = z.record(
  z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]*$/, "must consist of letters, digits, _, . and -; correct the name"),
  entry,
);

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

/** Reads a small YAML file by its schema. `at` is the place of what stands at a path. */
export function checkedIn<Content>(
  text: string,
  file: string,
  schema: z.ZodType<Content>,
  plain: (root: Value) => unknown = toPlainValue,
): { data: Content | undefined; problems: Problem[]; at: (path: readonly PropertyKey[]) => Place } {
  const problems: Problem[] = [];
  const root = parse(text, file, (problem) => problems.push(problem));
  const at = (path: readonly PropertyKey[]): Place =>
    root ? (find(root, path)?.value.at ?? valuePlace(root, path)) : { file, line: 1, column: 1 };
  const read = root && schema.safeParse(plain(root), sentences);
  for (const { path, message } of read?.error?.issues ?? []) {
    const name = path.filter((step) => typeof step === "string").join(".");
    problems.push({ at: at(path), message: `${name} ${message}`.trim() });
  }
  return { data: read?.data, problems, at };
}

/** The entries of environments.yaml, and its problems. */
export function environmentsIn(text: string): { entries: EnvironmentEntry[]; problems: Note[] } {
  const { data = {}, problems: found } = checkedIn(text, environmentsFile, environments);
  const names = Object.keys(data);
  if (names.length > maxEnvironments) {
    const at = { file: environmentsFile, line: 1, column: 1 };
    found.push({ at, message: `has more than ${maxEnvironments} environments; split the project` });
  }
  const entries = Object.entries(data).map(([name, { stack = name, after = [], ...rest }]) => ({
    name,
    stack,
    after,
    ...rest,
  }));
  const problems = found.map(({ at, message }) => ({ text: unbroken(message), place: describePlace(at) }));
  return { entries, problems };
}

/** The entries of a text of environments.yaml. Throws a DataRefusal. */
function entriesIn(text: string): EnvironmentEntry[] {
  const { entries, problems } = environmentsIn(text);
  const [wrong] = problems;
  if (wrong) throw new DataRefusal(`${wrong.place ?? environmentsFile}: ${wrong.text}`);
  return entries;
}

/** The environments that a project lists; undefined where it has no such file. Throws a DataRefusal. */
export function readEnvironments(folder: string): EnvironmentEntry[] | undefined {
  const text = textIn(folder, environmentsFile);
  return text === undefined ? undefined : entriesIn(text);
}

/** The environment of a name, or of a stack. Throws a DataRefusal. */
export function entryNamed(entries: readonly EnvironmentEntry[], name: string): EnvironmentEntry {
  const found = entries.find((each) => each.name === name) ?? entries.find(({ stack }) => stack === name);
  if (found) return found;
  const names = entries.map((each) => each.name).join(", ");
  throw new DataRefusal(`${environmentsFile} does not list ${name}; there is ${names || "none"}`);
}

/** The text of a file; undefined where there is none. Throws a DataRefusal where it can't be read. */
export function textIn(folder: string, file: string): string | undefined {
  const found = textOrReason(folder, file, maxMegabytesOfLayer);
  if ("text" in found) return found.text;
  if (found.reason === absent) return undefined;
  throw new DataRefusal(`${file} can't be read: ${found.reason}`);
}
