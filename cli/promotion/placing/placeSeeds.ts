import { existsSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { holdsConfigured } from "../../../provider/environment/configured.ts";
import { find, toPlainValue } from "../../../provider/layers/document.ts";
import { rowVerbs } from "../../../provider/layers/rowEdits.ts";
import type { EnvironmentFiles } from "../../changes/placing/environmentFiles.ts";
import type { EditedFile, FileEdit } from "../../edits/edits.ts";
import type { PromotedChange } from "../model/model.ts";
import { PromotionError } from "../model/promotionError.ts";

/** The edits that bring a new seed, and the file of its rows where the other environment keeps it to itself. */
export interface NewSeed {
  edits: FileEdit[];
  files: EditedFile[];
}

/** Brings a seed that the environment has not, with its rows. */
export function placeSeed(from: EnvironmentFiles, to: EnvironmentFiles, change: PromotedChange): NewSeed {
  const [, name = ""] = change.path;
  if (change.do !== "add") throw new Error("a new seed is added");
  const rows: Record<string, unknown> = {};
  for (const label of ["rows", ...rowVerbs]) {
    const value = find(from.root, ["seeds", name, label])?.value;
    if (value && holdsConfigured(value)) {
      throw new PromotionError(`${name}: ${label} comes from the configuration: write it into ${to.name} yourself`);
    }
    if (value) rows[label] = toPlainValue(value);
  }
  const source = from.declared.declaration.seeds[name]?.source;
  const target = source === undefined ? undefined : targetOf(source, from, to);
  const value = { ...change.cells, ...(target === undefined ? {} : { source: to.named(target) }), ...rows };
  const edits: FileEdit[] = [{ kind: "value", do: "set", file: to.own, path: change.path, value }];
  if (source === undefined || target === undefined || source === target) return { edits, files: [] };
  const after = readFileSync(join(from.declared.folder, source));
  const place = join(to.declared.folder, target);
  if (!existsSync(place)) return { edits, files: [{ file: target, before: undefined, after }] };
  if (readFileSync(place).equals(after)) return { edits, files: [] };
  throw new PromotionError(
    `${name}: its rows would be copied to ${target}, where another file is: move that, then promote`,
  );
}

/** A file that has the environment's name in its path belongs to it: the other one gets one of its own. */
function targetOf(source: string, from: EnvironmentFiles, to: EnvironmentFiles): string {
  const word = new RegExp(`(^|[/._-])${from.name.replace(/[.*+?^$()|[\]{}\\]/g, "\\$&")}(?=[/._-]|$)`, "g");
  return posix.normalize(source.replaceAll("\\", "/")).replace(word, (_, before: string) => before + to.name);
}
