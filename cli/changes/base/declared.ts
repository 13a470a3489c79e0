import { realpathSync } from "node:fs";
import { join } from "node:path";
import { listSources } from "../../../provider/environment/sources.ts";
import { maxMegabytesOfLayer, textOrReason } from "../../../provider/files/files.ts";
import { pathInRepository } from "../../../provider/files/repository.ts";
import type { Note } from "../model/changeSet.ts";
import { readDeclaration, declareNothing, type Declared, type EnvironmentReading } from "../model/source.ts";
import type { BaseTree } from "./baseTree.ts";
import { isPointer } from "./commits.ts";
import { detourTo, pointersIn } from "./workingTree.ts";

/** Reads a file of the working tree. What stands in a file's place is named and not shown: nobody could approve it. */
export async function readInTree(
  { folder, root }: { folder: string; root: string },
  file: string,
  held?: Declared["rules"],
): Promise<EnvironmentReading> {
  const from = realpathSync(folder);
  const unread = (name: string): string | undefined => detourTo(root, from, name);
  const reading = readDeclaration(file, folder, held);
  const { declared, policy, files } = reading;
  const ofLayer = (name: string): string | undefined => {
    const found = textOrReason(folder, name, maxMegabytesOfLayer);
    const isLfs = "text" in found && isPointer(found.text);
    return unread(name) ?? (isLfs ? `${name} is a pointer of Git LFS` : undefined);
  };
  const notes = (names: readonly string[], reasonOf: typeof unread): Note[] =>
    names.flatMap((name) => reasonOf(name) ?? []).map((text) => ({ text }));
  const layers = notes(files, ofLayer);
  if (layers.length > 0) return { problems: layers, policy, files };
  if (!declared) return reading;
  const sources = listSources(declared.declaration);
  const problems = [...reading.problems, ...notes(sources, unread)];
  const pointers = await pointersIn(folder, sources);
  return { ...reading, declared: { ...declared, unread: (name) => unread(name) ?? pointers.get(name) }, problems };
}

/** An Environment file of a commit. */
export interface AtBase {
  declared?: Declared;
  /** Why there is no declaration to compare with. */
  why?: string;
  notes: string[];
}

/** Reads an Environment file of a commit. `prefix` is the folder of Pulumi.yaml, from the top of the repository on. */
export async function readAtBase({ base, prefix }: { base: BaseTree; prefix: string }, file: string): Promise<AtBase> {
  const path = pathInRepository(prefix, file);
  const folder = join(base.folder, prefix);
  if (!(await base.writeEnvironment(path))) {
    return { declared: declareNothing(folder), notes: [`${file} is not in the base: everything it declares is new`] };
  }
  const unread = base.unread(path);
  if (unread !== undefined) return { why: unread, notes: [] };
  const { declared, problems } = readDeclaration(file, folder);
  if (!declared) {
    const reasons = problems.map(({ place, text }) => (place === undefined ? text : `${place}: ${text}`));
    return { why: `the file of the base can't be read: ${reasons.slice(0, 3).join("; ")}`, notes: [] };
  }
  return { declared: { ...declared, unread: (source) => base.unread(pathInRepository(prefix, source)) }, notes: [] };
}
