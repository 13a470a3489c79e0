import type { SeedDeclaration } from "../../../provider/environment/schema.ts";
import type { Declared } from "../../report/source.ts";
import type { Takeover, ThreeValues } from "../merge.ts";
import type { RenamedColumn } from "../placing.ts";

/** The commit at which a promotion begins, and why it is this one. */
export interface PromotionBase {
  commit: string;
  /** `entry`: promotions.yaml names it; `return`: the other direction was promoted in it; `fork`: both files are there since. */
  by: "entry" | "return" | "fork";
}

/** A thing by its path in the file, or a row of a seed by its natural key. */
export interface PromotedSubject {
  /** As people name it, and as `--only` takes it: `countries/DE`. */
  name: string;
  path: readonly string[];
  /** The text of a row's natural key, and the labels of it. */
  row?: { key: string; labels: readonly string[] };
}

/** Something that the environment gets. */
export type PromotedChange = PromotedSubject & (Takeover | ColumnRename);

/** A column of a seed gets another name. */
interface ColumnRename extends RenamedColumn {
  do: "rename";
}

/** Something that both sides changed, and not alike: a cell by its label, or all of it. */
export type PromotionConflict = PromotedSubject & { label?: string | undefined } & ThreeValues;

/** Two environments and their common base, as far as they are compared. */
export interface PromotionSides {
  from: { name: string; declared: Declared };
  to: { name: string; declared: Declared };
  base: Declared;
  /** A file that both extend, at the base and now: what it has since is the beginning of each. */
  shared: Record<"base" | "now", Declared | undefined>;
}

/** The outcome of a comparison: everything that the environment gets, and what stands in the way. */
export interface Promotion {
  from: string;
  to: string;
  base: PromotionBase;
  taken: PromotedChange[];
  conflicts: PromotionConflict[];
  /** Changes of `from` that are left for another time, since `--only` does not name them. */
  left: PromotedChange[];
  leftConflicts: number;
  /** Things and rows in which `to` alone differs from the base. */
  untouched: number;
  /** Things and rows in which `--ours` kept what `to` has. */
  kept: number;
  /** Things and rows that both sides changed alike since the base. */
  alike: number;
  notes: string[];
}

export const isSeed = (subject: PromotedSubject): boolean => subject.path[0] === "seeds" && !subject.row;

export type Seeds = Readonly<Record<string, SeedDeclaration>>;
