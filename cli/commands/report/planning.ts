import { projectAt, settingsAtRest, type Stack, stateAtRest } from "../../../engine/index.ts";
import { readOwnPackage } from "../../../machine/ownPackage.ts";
import { describeOtherPlan, partsOf, planDigest, type PlanParts } from "../../report/plan.ts";

/** The parts of a stack's plan, from files alone; undefined where nobody can tell them. */
export async function planAt(cwd: string, stack: string, state: string, file?: string): Promise<PlanParts | undefined> {
  const project = projectAt(cwd);
  const { version } = readOwnPackage();
  return partsOf({ project, stack, ...settingsAtRest(project, stack), state, version, environment: process.env }, file);
}

/** The plan of an open stack. */
export async function planOfStack({ project, name }: Stack) {
  const state = await stateAtRest(project.root, name, process.env);
  const parts = state === undefined ? undefined : await planAt(project.root, name, state);
  return parts && { digest: planDigest(parts), differsFrom: (expected: string) => describeOtherPlan(expected, parts) };
}
