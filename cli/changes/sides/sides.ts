import { existsSync, realpathSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { pathInRepository, rootOf, toSlashes } from "../../../provider/files/repository.ts";
import { BaseTree } from "../base/baseTree.ts";
import { commitOf } from "../base/commits.ts";
import { DataRefusal } from "../base/dataRefusal.ts";
import {
  entriesIn,
  entryNamed,
  environmentsFile,
  readEnvironments,
  type EnvironmentEntry,
} from "../base/environments.ts";
import { readDeclaration, type Declared } from "../model/source.ts";

/** One side of a comparison, as a command names it. */
export type SideName =
  | { kind: "files"; environment: string; commit?: string }
  | { kind: "live"; environment: string }
  | { kind: "dump"; folder: string }
  | { kind: "snapshot"; file: string };

/** A side that can't be compared, in one sentence with what to do. */
export class SideError extends DataRefusal {
  override readonly name = "SideError";
}

/** A side as it was read; `remove` takes away what was written for it. */
export interface ReadSide {
  declared: Declared;
  /** Why it is not whole. */
  why?: string;
  /** Things that are not compared, since nobody declares them. */
  notes?: readonly string[];
  /** True if it is what a platform has, which keeps rows and people in no file. */
  isPlatform?: boolean;
  remove: () => void;
}

/** Reads the name of a side: `dev`, `dev@<commit>`, `live:dev`, `dump:<folder>`, `snapshot:<file>`. Throws a SideError. */
export function parseSide(text: string): SideName {
  const [, kind, rest = ""] = /^(live|dump|snapshot):(.*)$/s.exec(text) ?? [];
  if (kind !== undefined && rest === "") throw new SideError(`"${text}" names nothing: write ${kind}:<name>`);
  if (kind === "live") return { kind, environment: rest };
  if (kind === "dump") return { kind, folder: rest };
  if (kind === "snapshot") return { kind, file: rest };
  const at = text.indexOf("@");
  if (at === 0 || at === text.length - 1 || text === "")
    throw new SideError(
      `"${text}" is no side: write an environment, <environment>@<commit>, live:<environment>, dump:<folder> or snapshot:<file>`,
    );
  return at < 0
    ? { kind: "files", environment: text }
    : { kind: "files", environment: text.slice(0, at), commit: text.slice(at + 1) };
}

const removeNothing = (): void => undefined;

/** The declaration in the files of an environment, of the working tree or of a commit. Throws a SideError. */
export async function readFilesSide(folder: string, environment: string, commit?: string): Promise<ReadSide> {
  if (commit !== undefined) return readCommit(folder, environment, commit);
  const file = fileOfSide(readEnvironments(folder), environment, (name) => existsSync(resolve(folder, name)));
  return { declared: declarationOf(file, folder, environment), remove: removeNothing };
}

/** The declaration that a dump wrote into a folder. Throws a SideError. */
export function readDumpSide(cwd: string, folder: string): ReadSide {
  const place = resolve(cwd, folder);
  const file = "environment.yaml";
  if (!existsSync(join(place, file))) throw new SideError(`${folder} is no dump: there is no ${file} in it`);
  return { declared: declarationOf(file, place, `dump:${folder}`), remove: removeNothing };
}

async function readCommit(folder: string, environment: string, commit: string): Promise<ReadSide> {
  const root = rootOf(folder);
  if (!existsSync(join(root, ".git"))) throw new SideError(`${folder} is in no Git repository, so it has no commits`);
  const tree = await BaseTree.of(root, await commitOf(root, commit));
  try {
    const prefix = toSlashes(relative(root, realpathSync(folder)));
    const listed = await tree.text(pathInRepository(prefix, environmentsFile));
    const isThere = (name: string): boolean => tree.entries.has(pathInRepository(prefix, name));
    const entries = listed === undefined ? readEnvironments(folder) : entriesIn(listed);
    const file = fileOfSide(entries, environment, isThere);
    const path = pathInRepository(prefix, file);
    const shown = `${environment}@${commit}`;
    if (!(await tree.writeEnvironment(path))) throw new SideError(`${file} is not in the commit ${commit}`);
    const why = tree.unread(path);
    if (why !== undefined) throw new SideError(why);
    const declared = declarationOf(file, join(tree.folder, prefix), shown);
    const unread = (source: string): string | undefined => tree.unread(pathInRepository(prefix, source));
    return { declared: { ...declared, unread }, remove: () => tree.remove() };
  } catch (error) {
    tree.remove();
    throw error;
  }
}

/** The file of an environment, or one that is none of environments.yaml. */
function fileOfSide(
  entries: readonly EnvironmentEntry[] | undefined,
  name: string,
  isThere: (file: string) => boolean,
): string {
  const isListed = entries?.some((each) => each.name === name || each.stack === name);
  if (!isListed && /\.ya?ml$/i.test(name) && isThere(name)) return name;
  if (entries) return entryNamed(entries, name).file;
  throw new SideError(
    `there is no ${environmentsFile} beside Pulumi.yaml that names ${name}: write one, or name the Environment file itself`,
  );
}

/** The declaration of a file; broken rules count for nothing here. */
export function declarationOf(file: string, folder: string, shown: string): Declared {
  const { declared, problems } = readDeclaration(file, folder);
  if (declared) return declared;
  const reasons = problems.map(({ place, text }) => (place === undefined ? text : `${place}: ${text}`));
  throw new SideError(`${shown} can't be read: ${reasons.slice(0, 3).join("; ")}`);
}
