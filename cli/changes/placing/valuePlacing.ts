import type { FileEdit } from "../../edits/edits.ts";
import type { ValueFileEdit } from "../../edits/kinds.ts";
import type { EnvironmentFiles } from "./environmentFiles.ts";

/** Sets a value where it stands, if no other environment has that file; else the environment's own file gets it. */
export const setValue = (files: EnvironmentFiles, path: readonly string[], value: unknown): ValueFileEdit => ({
  kind: "value",
  do: "set",
  file: files.fileFor(path),
  path,
  value,
});

/** Takes a thing out of the files that no other environment has; one that others share is overridden by null. */
export function takeOutValue(files: EnvironmentFiles, path: readonly string[], prune = false): FileEdit[] {
  const having = files.filesWith(path);
  files.assertReached(having[0]);
  const isShared = having.some((file) => !files.isOwn(file));
  const edits = having
    .filter((file) => files.isOwn(file) && !(isShared && file === files.own))
    .map((file): ValueFileEdit => ({ kind: "value", do: "remove", file, path, prune }));
  return isShared ? [...edits, { kind: "value", do: "set", file: files.own, path, value: null }] : edits;
}
