import { find, toPlainValue } from "../../../provider/layers/document.ts";
import type { EnvironmentFiles } from "../../changes/placing/environmentFiles.ts";
import { setValue, takeOutValue } from "../../changes/placing/valuePlacing.ts";
import type { FileEdit } from "../../edits/edits.ts";
import type { PromotedChange } from "../model/model.ts";
import { PromotionError } from "../model/promotionError.ts";

/** The edits that bring a change of settings into an environment's files. Throws a DataRefusal where none can. */
export function placeSettings(files: EnvironmentFiles, change: PromotedChange): FileEdit[] {
  const { path } = change;
  const isMember = path.at(-2) === "members";
  if (change.do === "remove") return takeOutValue(files, path, path.length > 2);
  if (change.do === "add") {
    const { role, ...more } = change.cells;
    const value = isMember && Object.keys(more).length === 0 ? role : change.cells;
    return [{ kind: "value", do: "set", file: files.own, path, value }];
  }
  const held = find(files.root, path)?.value;
  const cells = Object.entries(change.cells);
  if (isMember && held?.kind === "scalar") {
    const values = Object.fromEntries(cells.map(([label, { from }]) => [label, from]));
    const { role = toPlainValue(held), ...more } = values;
    return [setValue(files, path, Object.keys(more).length === 0 ? role : { role, ...more })];
  }
  return cells.map(([label, { from }]) => {
    const place = [...path, label];
    const edit = setValue(files, place, from);
    if (from !== undefined) return edit;
    const other = files.filesWith(place).find((file) => !files.isOwn(file));
    if (other !== undefined) {
      throw new PromotionError(
        `${change.name}: ${label} stands in ${other}, which other environments have as well, and no overlay takes it out: remove it there`,
      );
    }
    return { ...edit, do: "remove" };
  });
}
