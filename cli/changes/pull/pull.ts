import { copyFileSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { planEdits, type EditedFile, type FileEdit } from "../../edits/edits.ts";
import { readToEdit } from "../../edits/writing.ts";
import { readDeclaration, type Declared } from "../model/source.ts";
import { filesOf } from "../placing/environmentFiles.ts";
import type { PullItem } from "./findings.ts";

/** The files after a pull. */
export interface Pulled {
  /** All items; one whose edits can't be made has the reason. */
  items: PullItem[];
  files: EditedFile[];
}

/**
 * Makes the edits of all items that nothing refuses, and reads the result as `up` would read it. Writes nothing. An edit that
 * can't be made takes its whole item out; a result that can't be read takes all of them out.
 */
export async function planPull(items: readonly PullItem[], declared: Declared): Promise<Pulled> {
  const { folder } = declared;
  let now = [...items];
  for (;;) {
    const open = now.filter(({ refused }) => refused === undefined);
    const owners = new Map<FileEdit, PullItem>();
    for (const item of open) for (const edit of item.edits) owners.set(edit, item);
    const { files, refused } = await planEdits([...owners.keys()], (file) => readToEdit(folder, file));
    if (refused.length === 0) {
      const why = files.length === 0 ? undefined : whyUnreadable(declared, files);
      if (why === undefined) return { items: now, files };
      const reason = `with these edits the files can't be read (${why}): edit them by hand`;
      return {
        items: now.map((item) => (item.refused === undefined ? { ...item, refused: reason } : item)),
        files: [],
      };
    }
    const reasons = new Map<PullItem, string>();
    for (const { edit, place, reason } of refused) {
      const owner = owners.get(edit);
      if (owner) reasons.set(owner, `${place} ${reason}`);
    }
    now = now.map((item) => {
      const reason = reasons.get(item);
      return reason === undefined ? item : { ...item, refused: reason };
    });
    if (reasons.size === 0) throw new Error("an edit that is refused belongs to an item");
  }
}

/** Why the files of an environment can't be read with these edits; undefined where they can. */
function whyUnreadable(declared: Declared, files: readonly EditedFile[]): string | undefined {
  const copy = copyEdited(declared, files);
  try {
    const { declared: read, problems } = readDeclaration(declared.file, copy.folder);
    const [first] = problems;
    if (read && !first) return undefined;
    return first ? [first.place ?? [], first.text].flat().join(": ") : "they declare nothing";
  } finally {
    copy.remove();
  }
}

/** The files of an environment with edits made, in a private folder of their own. */
export function copyEdited(declared: Declared, files: readonly EditedFile[]): { folder: string; remove: () => void } {
  // Deep enough that files above the program's folder stay inside.
  const root = realpathSync(mkdtempSync(join(tmpdir(), "microapps-pull-")));
  const depth = "program/".repeat(8);
  const folder = join(root, depth);
  mkdirSync(folder, { recursive: true });
  mkdirSync(join(root, ".git"));
  const edited = new Map(files.map(({ file, after }) => [file, after]));
  for (const name of new Set([...filesOf(declared), ...edited.keys()])) {
    const target = resolve(folder, name);
    mkdirSync(dirname(target), { recursive: true });
    const bytes = edited.get(name);
    if (bytes) writeFileSync(target, bytes, { mode: 0o600 });
    else if (existsSync(resolve(declared.folder, name))) copyFileSync(resolve(declared.folder, name), target);
  }
  return { folder, remove: () => rmSync(root, { recursive: true, force: true }) };
}
