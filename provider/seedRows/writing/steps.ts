import type { RowDigests } from "../../reconcile/digests.ts";
import type { Undone } from "../../reconcile/ownership.ts";
import type { RowTarget } from "../declared/target.ts";
import type { Clearing } from "../kept/clearing.ts";
import type { Scope } from "../kept/scope.ts";
import type { Unproven } from "./firstRow.ts";

/** A row that a run is about to remove. */
export type Removal = RowDigests & { id: string };

/** Rows that stay on the platform, by the seed that declares them. */
export type HandedOverRows = ReadonlyMap<string, number>;

/** Result of a plan. */
export interface Applied {
  undone: Required<Undone>;
  /** Rows that the platform refused, and labels that it lost, in sentences. */
  failures: string[];
  /** Rows that were to be removed and stay, since another seed declares them. */
  keptForOthers: HandedOverRows;
}

/** How the table was before a run. */
export interface SeenTable {
  /** Rows that it had, ours and others. */
  total: number;
  labels: ReadonlySet<string>;
  /** Rows of this account with keys that nobody wants; undefined for too many. */
  mineBeside: ReadonlySet<string> | undefined;
}

/** How a plan is carried out beside what other seeds do. */
export interface Steps {
  /** Labels that updates set to nothing. */
  clear?: Clearing;
  /** The labels by which rows are compared with those of the table. */
  scope?: Scope;
  /** The seed as it was when the digests of the removals were taken. */
  terms?: RowTarget;
  /** Lets other seeds remove rows of the table; called before the first removal. */
  release?: () => void;
  /** Takes out what seeds declare that were checked meanwhile. Nobody else works on the table then. */
  spare?: (removals: readonly Removal[]) => Promise<{ left: Removal[]; keptForOthers: HandedOverRows }>;
  /** How the table was read. */
  seen?: SeenTable;
  /** Where the seed has not written the table before: one row is tried first, and noted here until its key is seen. */
  unproven?: Unproven | undefined;
}

/** Ends a plan early; its message names the rest. */
export class Stopped extends Error {}
