import {
  describeRenaming,
  findRenamings,
  keyIn,
  type RowsLeft,
  type RenamedSide,
} from "../../../provider/environment/things/renames.ts";
import { describeNamed, readName } from "../../../provider/resources/model/identities.ts";
import type { Declared } from "../model/source.ts";
import { urnOf } from "./knownThing.ts";
import type { Plan, PlannedStep } from "./planner.ts";

/** Notes at the things of a plan, and each hint once. */
export interface Renames {
  notes: ReadonlyMap<PlannedStep, string[]>;
  hints: string[];
}

interface OfStep extends RenamedSide {
  step: PlannedStep;
}

/** Things that leave beside one that came and may be the same: what to say so that it stays what it is. */
export function renamesIn({ steps }: Plan, head: Declared): Renames {
  const notes = new Map<PlannedStep, string[]>();
  const hints: string[] = [];
  const sidesOf = (operation: PlannedStep["operation"]): OfStep[] =>
    steps.filter((step) => step.operation === operation).flatMap((step) => sideOf(step) ?? []);
  for (const renaming of findRenamings(sidesOf("delete"), sidesOf("create"), rowsLeft)) {
    const { left, came } = renaming;
    const path = came.step.thing?.path ?? [];
    const place = head.place(path);
    const entry = path.join(".");
    hints.push(describeRenaming(renaming, place === "" ? entry : `${entry} (${place})`));
    // Without the place, which the other thing has: equal changes of several environments are shown once.
    notes.set(left.step, [describeRenaming(renaming, entry)]);
    notes.set(came.step, [`perhaps ${keyIn(left.name)} renamed: say "formerly: ${keyIn(left.name)}" here`]);
  }
  return { notes, hints };
}

function sideOf(step: PlannedStep): OfStep | undefined {
  const { known, thing, inputs, operation } = step;
  if (operation === "delete")
    return known && { step, kind: known.kind, name: known.name, values: { ...known.thing?.inputs, ...known.outputs } };
  return thing && { step, kind: thing.kind, name: thing.name.now.slice(1), values: { ...thing.inputs, ...inputs } };
}

/** Rows of a seed that leaves, as its plan has them. */
function rowsLeft({ step: { rows, known } }: OfStep, { kind, name }: OfStep): RowsLeft | undefined {
  if (known?.rows === "none") return undefined;
  const called = describeNamed(readName(urnOf(kind, name)));
  return rows?.plan.exact ? { stay: rows.keptForOthers.get(called) ?? 0, go: rows.plan.remove } : undefined;
}
