import { quote } from "../../../../platform/messages/text.ts";
import { secretKey } from "../inputs.ts";
import type { RowTarget } from "../target.ts";

/** A setting of a seed that contradicts another one: the property, the place below it, and the reason. */
export interface SettingProblem {
  property: "viewers" | "teamViewers" | "userID" | "ignoreLabels" | "expect" | "secretLabels";
  below: readonly PropertyKey[];
  reason: string;
}

/** Settings that contradict each other, whatever the rows are. */
export const findSettingProblems = (seed: Partial<RowTarget>): SettingProblem[] => [
  ...secretProblems(seed),
  ...viewersProblems(seed),
  ...ignoredProblems(seed),
  ...expectProblems(seed),
];

const secretProblems = ({ secretLabels = [], key = [] }: Partial<RowTarget>): SettingProblem[] =>
  secretLabels.flatMap((label, at) =>
    key.includes(label) ? [{ property: "secretLabels" as const, below: [at], reason: secretKey(label) }] : [],
  );

function viewersProblems(seed: Partial<RowTarget>): SettingProblem[] {
  if (seed.mode !== "updateOnly") return [];
  const names = (["viewers", "teamViewers", "userID"] as const).filter((name) => seed[name] !== undefined);
  return names.map((property) => ({
    ...{ property, below: [] },
    reason: `${property} acts when a row is inserted, and mode updateOnly inserts none: leave it out, or set another mode`,
  }));
}

function ignoredProblems({ ignoreLabels = [], key = [], parent, fields }: Partial<RowTarget>): SettingProblem[] {
  return ignoreLabels.flatMap((label, at): SettingProblem[] => {
    const problem = (reason: string): SettingProblem[] => [{ property: "ignoreLabels", below: [at], reason }];
    if (key.includes(label))
      return problem(`${quote(label)} is part of the natural key, by which rows are known: leave it out`);
    if (label === parent?.by) return problem(`${quote(label)} names the parent row, and no field: leave it out`);
    if (fields && !Object.hasOwn(fields, label))
      return problem(`table has no field ${quote(label)} under platform: correct it, or leave it out`);
    return [];
  });
}

function expectProblems({ expect, references = {}, parent, ignoreLabels = [] }: Partial<RowTarget>): SettingProblem[] {
  const problems: SettingProblem[] = [];
  const { min = 0, max = Infinity } = expect?.rowCount ?? {};
  const at = (below: readonly PropertyKey[], reason: string): number =>
    problems.push({ property: "expect", below, reason });
  if (min > max)
    at(["rowCount", "min"], `expect.rowCount takes at least ${min} rows and at most ${max}: correct one of them`);
  const linked = [...Object.keys(references), ...(parent ? [parent.by] : [])];
  for (const label of Object.keys(expect?.relationships ?? {}))
    if (linked.includes(label) && !ignoreLabels.includes(label))
      at(
        ["relationships", label],
        `${quote(label)} is a link already, whose rows have to be there: leave it out of expect.relationships`,
      );
  return problems;
}
