import { find, toPlainValue } from "../../../provider/layers/document.ts";
import type { FileEdit } from "../../edits/edits.ts";
import type { ValueFileEdit } from "../../edits/kinds.ts";
import type { PromotedChange } from "../model/model.ts";
import { PromotionError } from "../model/promotionError.ts";
import type { EnvironmentLayers } from "./layersOf.ts";

/** The edits that bring a change of settings into an environment's files. Throws a PromotionError where none can. */
export function placeSettings(layers: EnvironmentLayers, change: PromotedChange): FileEdit[] {
  const { path } = change;
  const isMember = path.at(-2) === "members";
  if (change.do === "remove") return removeThing(layers, path);
  if (change.do === "add") {
    const { role, ...more } = change.cells;
    const value = isMember && Object.keys(more).length === 0 ? role : change.cells;
    return [set(layers.own, path, value)];
  }
  const held = find(layers.root, path)?.value;
  const cells = Object.entries(change.cells);
  if (isMember && held?.kind === "scalar") {
    const values = Object.fromEntries(cells.map(([label, { from }]) => [label, from]));
    const { role = toPlainValue(held), ...more } = values;
    const file = layers.ownFileAt(path) ?? layers.own;
    return [set(file, path, Object.keys(more).length === 0 ? role : { role, ...more })];
  }
  return cells.map(([label, { from }]) => {
    const place = [...path, label];
    if (from !== undefined) return set(layers.ownFileAt(place) ?? layers.own, place, from);
    const other = layers.filesWith(place).find((file) => !layers.isOwn(file));
    if (other !== undefined) {
      throw new PromotionError(
        `${change.name}: ${label} stands in ${other}, which other environments have as well, and no overlay takes it out: remove it there`,
      );
    }
    return { ...set(layers.ownFileAt(place) ?? layers.own, place, undefined), do: "remove" as const };
  });
}

const set = (file: string, path: readonly string[], value: unknown): ValueFileEdit => ({
  kind: "value",
  do: "set",
  file,
  path,
  value,
});

/** Takes a thing out of the files that no other environment has; one that others share is overridden by null. */
function removeThing(layers: EnvironmentLayers, path: readonly string[]): FileEdit[] {
  const files = layers.filesWith(path);
  const isShared = files.some((file) => !layers.isOwn(file));
  const { own } = layers;
  const edits = files
    .filter((file) => layers.isOwn(file) && !(isShared && file === own))
    .map((file): ValueFileEdit => ({ kind: "value", do: "remove", file, path, prune: path.length > 2 }));
  return isShared ? [...edits, set(own, path, null)] : edits;
}
