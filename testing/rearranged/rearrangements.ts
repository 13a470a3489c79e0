import type { Model, Which } from "./model.ts";
import { peopleEdits } from "./peopleEdits.ts";
import { rowEdits } from "./rowEdits.ts";

/** The kinds of edits, by what they are about. */
export const kinds = { rows: rowEdits, people: peopleEdits };
const edits = { ...rowEdits, ...peopleEdits };

/** An edit of a program: what kind, and numbers that choose what it is made to. */
export interface Edit {
  kind: keyof typeof edits;
  which: Which;
}

/** The program after an edit; the same one when there is nothing that it could be made to. */
export const edited = (model: Model, { kind, which }: Edit): Model => edits[kind](model, which) ?? model;
