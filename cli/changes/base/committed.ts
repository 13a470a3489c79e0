import { existsSync, realpathSync } from "node:fs";
import { join, relative } from "node:path";
import { messageOf } from "../../../machine/failures.ts";
import { findUncommitted } from "../../../provider/files/git.ts";
import { pathInRepository, rootOf } from "../../../provider/files/repository.ts";
import { DataRefusal } from "./dataRefusal.ts";

/** Throws a DataRefusal that names files which are not committed: an edit would mix with somebody's own. */
export async function assertCommitted(folder: string, files: readonly string[]): Promise<void> {
  const root = rootOf(folder);
  if (!existsSync(join(root, ".git"))) return;
  const prefix = relative(root, realpathSync(folder));
  const paths = new Set(files.map((file) => pathInRepository(prefix, file)));
  const changed = await findUncommitted(root, [...paths]).catch((error: unknown) => {
    throw new DataRefusal(
      `Git can't tell which files are committed (${messageOf(error)}): mend that, or go on with --dirty`,
    );
  });
  if (changed.length === 0) return;
  const names = changed.slice(0, 10).join(", ") + (changed.length > 10 ? ` and ${changed.length - 10} more` : "");
  throw new DataRefusal(
    `${names} ${changed.length === 1 ? "is" : "are"} not committed: commit first, or go on with --dirty`,
  );
}
