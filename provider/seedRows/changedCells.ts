import type { Forecast } from "../reconcile/rows.ts";
import { rowsByKey, type BothSides } from "./declared/cells.ts";
import type { OfflineRowContext } from "./declared/claims.ts";
import { withLastSource } from "./declared/summaries.ts";
import type { RowTarget } from "./declared/target.ts";
import type { SeedInputs, SeedState } from "./kept/state.ts";
import { isReshaped } from "./live/reshaped.ts";
import type { Source } from "./source/source.ts";

const labelsOf = ({ secretLabels = [] }: Source): string[] => [...secretLabels];

/** A seed that hides the labels of both runs: a label that is shown from now on must not reveal its old value. */
export const hidingBoth = <Inputs extends Source>(old: Source, inputs: Inputs): Inputs => {
  const secretLabels = [...new Set([...labelsOf(inputs), ...labelsOf(old)])];
  return secretLabels.length === 0 ? inputs : { ...inputs, secretLabels };
};

/** What becomes secret, or is no more, in one line; undefined where none is. */
export function secrecyMessage(old: Source, inputs: Source): string | undefined {
  const [was, is] = [labelsOf(old), labelsOf(inputs)];
  const hidden = is.filter((label) => !was.includes(label));
  const shown = was.filter((label) => !is.includes(label));
  if (inputs.sensitive && !old.sensitive)
    return "all rows secret from now on, in the state too: no row changes for that";
  const parts = [
    hidden.length > 0 ? `${hidden.join(", ")} secret from now on` : "",
    shown.length > 0 ? `${shown.join(", ")} shown from now on` : "",
  ].filter((part) => part !== "");
  return parts.length === 0 ? undefined : `${parts.join(", ")}: no row changes for that`;
}

/** Most rows of a seed whose last source is read to show what changes in it. */
const maxRead = 50_000;

/** The first rows of a file that change, as the last run had them and as they are now; rows of the program show by themselves. */
export async function findChangedCells(
  context: OfflineRowContext,
  old: SeedState,
  inputs: SeedInputs,
  keys: readonly string[],
): Promise<BothSides | undefined> {
  const { directory } = context;
  const ofFiles = inputs.source !== undefined && old.source !== undefined;
  if (!ofFiles || inputs.sensitive || keys.length === 0 || old.rowCount > maxRead) return undefined;
  const declared = hidingBoth(old, inputs);
  const { key, references, parent, salt, secretLabels, ignoreLabels } = declared;
  const before = (_: unknown, seed: RowTarget, folder: string) =>
    rowsByKey({ ...seed, key, references, parent, salt, secretLabels, ignoreLabels }, folder, keys);
  const found = await withLastSource(context, { ...old, rows: undefined }, before);
  return { was: found ?? new Map(), is: await rowsByKey(declared, directory, keys) };
}

/** Describes the gaps of a forecast when the file of the last run is missing; empty when it is complete. */
export function whatIsUnknown(
  old: SeedState,
  inputs: SeedInputs,
  plan: Forecast,
  cells: BothSides | undefined,
): string {
  if (inputs.source === undefined || old.source === undefined || inputs.sensitive || isReshaped(old, inputs)) return "";
  if (plan.exact && cells?.was.size !== 0) return "";
  const known = plan.exact ? "counts and keys" : "counts";
  return `; only ${known} are known: the ${old.source} that was applied is neither here nor in the last Git commit`;
}
