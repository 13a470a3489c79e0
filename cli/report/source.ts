import { type Declaration, readEnvironment } from "../../provider/environment/declaration.ts";
import type { HeldRule } from "../../provider/environment/declaration.ts";
import { keyPlace, type Problem, type Value, valuePlace, describePlace } from "../../provider/layers/document.ts";
import { toShownPath } from "../../provider/layers/layers.ts";
import { type Note, placed } from "./changeSet.ts";
import { DataRefusal } from "./environments.ts";

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
