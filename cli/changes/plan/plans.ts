import { kinds as all, things } from "../../../provider/environment/things/things.ts";
import { notCompared, type Note, type Section } from "../model/changeSet.ts";
import type { Both, Declared } from "../model/source.ts";
import type { StackState } from "../state/state.ts";
import { toKnownDeclaration, toKnownState } from "./known.ts";
import { Planner, type Plan } from "./planner.ts";
import { sectionOf } from "./section.ts";

const kinds: readonly string[] = all;

/** Plans a change, from an environment that matches the base, with the refusals of a run. */
export async function planOfChange({ base, head }: Both): Promise<Plan> {
  const known = await toKnownDeclaration(base);
  const { folder, unread } = head;
  return new Planner({ folder, unread }, known, things(head.declaration)).plan();
}

/** Changes between two declarations, and problems of the later one. */
export async function compareDeclarations(both: Both): Promise<{ section: Section; problems: Note[] }> {
  return sectionOf(await planOfChange(both), both);
}

/** Plans an `up`: the state against the declaration. Offline, and no secret of the state is opened. */
export async function pending(state: StackState, declared: Declared): Promise<Section> {
  const roots = state.resources.filter(({ kind }) => kind === "Environment");
  const own = state.resources.filter(({ kind }) => kinds.includes(kind));
  if (roots.length > 1)
    return notCompared(`the state has ${roots.length} Environments, and nothing says which one this is`);
  if (roots.length === 0 && own.length > 0) {
    return notCompared("the state has no Environment: the program declares its resources itself");
  }
  const known = toKnownState({ ...state, resources: own }, roots[0]?.name ?? "environment", declared);
  const { declaration, folder, unread } = declared;
  const plan = await new Planner({ folder, unread }, known, things(declaration)).plan();
  const { section } = await sectionOf(plan, { base: undefined, head: declared });
  if (state.interrupted === 0) return section;
  return { ...section, why: [interrupted(state.interrupted), section.why ?? []].flat().join("; ") };
}

const interrupted = (count: number): string =>
  `a run was interrupted while it worked on ${count} ${count === 1 ? "resource" : "resources"}, which the next one looks at first`;
