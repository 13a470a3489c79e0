import { RowSet } from "../../reconcile/rowSet.ts";
import type { RowFindings } from "../../resources/rows/declared/claims.ts";
import { shapeOf } from "../../resources/rows/declared/terms.ts";

type Leaving = RowFindings["leaving"];

/** Which rows leave a seed, as JSON keeps it. */
export type LeavingNote = Pick<Leaving, "target" | "labels"> & Record<"keys" | "existing" | "handedOver", string>;

/** Writes down which rows leave a seed, without those that it declares. */
export function toLeavingNote({ target, labels, keys, existing, handedOver }: Leaving): LeavingNote {
  const { rows: _, source: __, ...terms } = { ...shapeOf(target), salt: target.salt };
  return {
    ...{ target: terms, labels },
    ...{ keys: keys.toText(), existing: existing.toText(), handedOver: handedOver.toText() },
  };
}

/** Reads what `toLeavingNote` wrote. */
export const ofLeavingNote = ({ keys, existing, handedOver, ...terms }: LeavingNote): Leaving => ({
  ...terms,
  ...{ keys: RowSet.fromText(keys), existing: RowSet.fromText(existing), handedOver: RowSet.fromText(handedOver) },
});
