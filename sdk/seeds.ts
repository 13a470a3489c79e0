import type { Mode } from "../provider/reconcile/rows.ts";
import type { CellType } from "../provider/sources/source.ts";

/** The URN of a resource; of one without a parent known at once, since outputs and promises are dear to make. */
export type PlainUrn = string | Promise<string>;

/** A seed on the same table: what is known of its rows before anything is sent. */
export interface Sibling {
  urn: string;
  table: string;
  key: string[];
  rows?: Record<string, unknown>[];
  source?: string;
  types?: Record<string, CellType>;
  additions?: Record<string, unknown>[];
  removals?: RemovedKeys;
  mode?: Mode;
}

export type RemovedKeys = (string | number | boolean | (string | number | boolean)[])[];

/** Where the links of a seed lead to, by label. */
export type LinkTargets = Record<string, { table: string; key: string }>;

/** The part of a seed that others see while it is constructed. */
export interface Announced extends Omit<Sibling, "urn"> {
  name: string;
  urn: PlainUrn;
  secret: readonly unknown[];
  references: LinkTargets;
}
