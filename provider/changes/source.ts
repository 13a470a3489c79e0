import { RunError } from "@pulumi/pulumi";
import { declaration, type Declaration } from "../environment/declaration.ts";
import { keyPlace, valuePlace, type Place, type Value } from "../layers/document.ts";
import { load } from "../layers/overlays.ts";
import type { Note } from "./model/changeSet.ts";

/** An Environment file as it was read: what it declares, and where. */
export interface Declared {
  declaration: Declaration;
  /** The folder that sources are relative to. */
  folder: string;
  /** Where the key at a path stands, `prod.yaml:7:3`. */
  place: (path: readonly PropertyKey[]) => string;
  /** Why a source is not read although it is there: a link, a submodule, a pointer of Git LFS. */
  unread?: (source: string) => string | undefined;
}

/** Reads an Environment file; what is wrong with it are problems, and then there is no declaration. */
export function declaredIn(file: string, folder: string): { declared?: Declared; problems: Note[] } {
  try {
    const read = declaration(file, folder);
    const root = load(file, folder, () => undefined);
    return {
      declared: { declaration: read, folder, place: (path) => (root ? placeIn(root, path) : file) },
      problems: [],
    };
  } catch (error) {
    if (!RunError.isInstance(error)) throw error;
    return { problems: problemsIn(error.message) };
  }
}

/** What nobody declares. */
export const nothing = (folder: string): Declared => ({
  declaration: { organizations: {}, seeds: {}, apps: {}, seedOrder: [], fields: {} },
  folder,
  place: () => "",
});

function placeIn(root: Value, path: readonly PropertyKey[]): string {
  const exact = keyPlace(root, path);
  return written(path.length === 0 ? valuePlace(root, path) : exact);
}

const written = ({ file, line, column }: Place): string => `${file}:${line}:${column}`;

/** The lines of an error that names every problem at its place. */
function problemsIn(message: string): Note[] {
  const [, ...lines] = message.split("\n");
  const told = lines.length === 0 ? [message] : lines;
  return told.map((line) => {
    const [, place, text] = /^\s*(\S.*?:\d+:\d+): (.*)$/.exec(line) ?? [];
    return place !== undefined && text !== undefined ? { place, text } : { text: line.trim() };
  });
}
