import { readEnvironment, type Declaration } from "../environment/declaration.ts";
import type { HeldRule } from "../environment/rules.ts";
import { keyPlace, valuePlace, type Problem, type Value } from "../layers/document.ts";
import { placed } from "../layers/verbs.ts";
import type { Note } from "./model/changeSet.ts";

/** An Environment file as it was read: what it declares, and where. */
export interface Declared {
  declaration: Declaration;
  /** The folder that sources are relative to. */
  folder: string;
  /** Where the key at a path stands, `prod.yaml:7:3`. */
  place: (path: readonly PropertyKey[]) => string;
  /** Its rules, and where each stands. */
  rules: readonly HeldRule[];
  /** Why a source is not read although it is there: a link, a submodule, a pointer of Git LFS. */
  unread?: (source: string) => string | undefined;
}

/** What was read of an Environment file. */
export interface Reading {
  /** Only where nothing is wrong. */
  declared?: Declared;
  /** What of it binds whoever changes it, whatever else is wrong. */
  policy?: Pick<Declaration, "rules" | "removals"> | undefined;
  problems: Note[];
}

/**
 * Reads an Environment file; what is wrong with it are problems, and then there is no declaration.
 * @param held rules of another version that hold as well
 */
export function declaredIn(file: string, folder: string, held: readonly HeldRule[] = []): Reading {
  const { declared, root, problems } = readEnvironment(file, folder, undefined, held);
  if (problems.length > 0 || !declared || !root) return { policy: declared, problems: notesOf(problems) };
  const place = (path: readonly PropertyKey[]): string => placeIn(root, path);
  const rules = declared.rules.map((rule, index) => ({ rule, at: keyPlace(root, ["rules", index]) }));
  return { declared: { declaration: declared, folder, place, rules }, policy: declared, problems: [] };
}

/** What nobody declares. */
export const nothing = (folder: string): Declared => ({
  declaration: {
    organizations: {},
    seeds: {},
    apps: {},
    rules: [],
    removals: "free",
    removed: {},
    seedOrder: [],
    fields: {},
    secrets: [],
  },
  folder,
  place: () => "",
  rules: [],
});

const placeIn = (root: Value, path: readonly PropertyKey[]): string =>
  placed(path.length === 0 ? valuePlace(root, path) : keyPlace(root, path));

const notesOf = (problems: readonly Problem[]): Note[] => {
  const notes = problems.map(({ at, message }) => ({ place: placed(at), text: message }));
  return [...new Map(notes.map((note) => [JSON.stringify(note), note])).values()];
};
