import { relative } from "node:path";
import { maxMegabytesOfLayer, textIfAny } from "../../provider/files/files.ts";
import { treeOf, workingTreeOf } from "../../provider/files/git.ts";
import { pathInRepository } from "../../provider/files/repository.ts";
import type { BaseTree } from "./base/baseTree.ts";
import { decidingChanges, packageFlags, unreadFlags, type Flagged } from "./base/decidingFlags.ts";
import type { BothTexts } from "./base/decidingFlags.ts";
import type { EnvironmentEntry } from "./base/environments.ts";
import { inFolder, projectFilesOf, type ProjectFiles, type Side } from "./base/projectFiles.ts";
import { projectFlags, stackFlags, treeFlags } from "./base/projectFlags.ts";

// Changes in the files that decide which code runs, where credentials go and where the state is.

/** The two sides of a comparison. */
export interface Sides {
  /** The folder of Pulumi.yaml. */
  folder: string;
  root: string;
  base: BaseTree;
  /** The commit of the working tree; empty where there is none. */
  head: string;
  /** Path of the project's folder in the repository. */
  prefix: string;
}

export const inRepository = ({ prefix }: Sides, file: string): string => pathInRepository(prefix, file);

const sideOfBase = ({ base, prefix }: Sides): Side => ({
  names: (folder) => base.namesIn(pathInRepository(prefix, folder)),
  text: (file) => base.text(pathInRepository(prefix, file)),
});

/** The project file and that of a stack on both sides. */
async function bothFiles(
  place: Sides,
  stack: string,
  former = stack,
): Promise<Record<"before" | "after", ProjectFiles>> {
  return {
    before: await projectFilesOf(sideOfBase(place), former),
    after: await projectFilesOf(inFolder(place.folder), stack),
  };
}

/** Flags for changes in the file of a stack, which may have had another name, with its texts. */
export async function flagsOfStack(
  place: Sides,
  { stack }: EnvironmentEntry,
  former: EnvironmentEntry | undefined,
  isElsewhere: boolean,
): Promise<Flagged & { stack: BothTexts }> {
  const { before, after } = await bothFiles(place, stack, former?.stack);
  const texts = await textsOf(place, after.stack, before.stack);
  const { flags, unexplained } = stackFlags(texts, isElsewhere);
  const rivals = after.why.map((text) => ({ text, place: after.stack }));
  return { stack: texts, flags: [...rivals, ...flags], unexplained: [...rivals, ...unexplained] };
}

/** Flags for files that all environments share, and that decide which code runs or where credentials go. */
export async function flagsOfProject(place: Sides): Promise<Flagged> {
  const { root, base, head, prefix } = place;
  const { before, after } = await bothFiles(place, "");
  const project = projectFlags(await textsOf(place, after.project, before.project));
  const committed = head === "" ? undefined : await treeOf(root, head);
  const isNew = !base.entries.has(inRepository(place, before.project));
  // Uncommitted code runs as well.
  const changes =
    committed && !isNew ? decidingChanges(base.entries, await workingTreeOf(root, committed), prefix) : [];
  const packages: Flagged[] = [];
  for (const { path, kind } of changes) {
    if (kind.explained === "packages") packages.push(packageFlags(await textsOf(place, relative(prefix, path))));
  }
  const unread = unreadFlags(changes);
  const code = unreadFlags(changes, "code");
  const ofTree = committed ? treeFlags(base.entries, committed) : [];
  return {
    flags: [...project.flags, ...unread, ...code, ...packages.flatMap(({ flags }) => flags), ...ofTree],
    unexplained: [...project.unexplained, ...unread, ...packages.flatMap((each) => each.unexplained)],
  };
}

/** The texts of a file on both sides, which may have had another name. */
export async function textsOf(place: Sides, file: string, former = file): Promise<BothTexts> {
  return {
    file,
    before: await place.base.text(inRepository(place, former)),
    after: textIfAny(place.folder, file, maxMegabytesOfLayer),
  };
}
