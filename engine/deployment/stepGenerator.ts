import { messageOf, ReportedError } from "../errors.ts";
import { pickVisibleInputs } from "../providers/packageVersions.ts";
import { type Checked, type Difference, DiffUnavailable } from "../providers/provider.ts";
import type { Operator } from "../providers/registry.ts";
import { newState, type ResourceState } from "../state/resourceState.ts";
import { formerUrns } from "../values/aliases.ts";
import type { ValueChange } from "../values/propertyChanges.ts";
import { isProviderType, nameOf, parseReference, makeUrn } from "../values/urns.ts";
import { equal, type PropertyMap, unknown } from "../values/values.ts";
import { SerialQueue } from "./concurrency.ts";
import { type Goal, type ReadGoal, stateOfGoal } from "./goal.ts";
import { changesOf, diffResource, needsReplacement, withIgnored, withReplaceOnChanges } from "./resourceDiff.ts";
import type { Run } from "./run.ts";
import { Aborted, operatorOf, runChain } from "./stepExecutor.ts";
import type { Step } from "./steps.ts";

/** A registration whose inputs are checked, and whose steps are not decided yet. */
interface Considered {
  goal: Goal;
  old: ResourceState;
  next: ResourceState;
  /** The inputs to compare, with ignored changes taken back; the state of a component keeps the inputs as they came. */
  compared: PropertyMap;
  operator: Operator | undefined;
}

/** Decides what each registered resource needs: nothing, a create, an update or a replacement. */
export class StepGenerator {
  readonly #run: Run;
  /** Decisions are taken one after the other, as Pulumi does: what a diff finds counts for those after it. Steps run beside each other. */
  readonly #queue = new SerialQueue();
  readonly #urns: RegisteredUrns;
  readonly #providers = new Map<string, ResourceState>();
  readonly #replaced = new Set<string>();
  /** URNs whose steps are decided, with the old URNs of aliased resources. */
  readonly operatedOn = new Set<string>();
  /** URNs that this run deletes. */
  readonly deletes = new Set<string>();
  /** States that are deleted early, as dependents of a replacement. */
  readonly pendingDeletes = new Set<ResourceState>();
  /** New states of all registered resources, by URN. */
  readonly news = new Map<string, ResourceState>();

  constructor(run: Run) {
    this.#run = run;
    this.#urns = new RegisteredUrns(run);
  }

  /** Brings one resource to its goal. Resolves when that is done and saved. */
  async register(goal: Goal): Promise<ResourceState> {
    const { state, steps } = await this.#decide(async () => {
      const begun = await this.#begin(goal);
      const { considered } = begun;
      return considered ? { ...begun, steps: await this.#conclude(considered, await this.#diff(considered)) } : begun;
    });
    await runChain(this.#run, steps);
    return state;
  }

  /** Takes one decision at a time; a failure is reported and ends the run. */
  #decide<T>(work: () => Promise<T>): Promise<T> {
    return this.#queue.run(async () => {
      if (this.#run.aborted) throw new Aborted("aborted");
      try {
        return await work();
      } catch (error) {
        this.#run.abort();
        if (error instanceof ReportedError) throw error;
        throw this.#run.fail(messageOf(error));
      }
    });
  }

  /** Reads an existing resource that this stack does not manage. Resolves when its state is saved. */
  async read(goal: ReadGoal): Promise<ResourceState> {
    const { state, steps } = await this.#decide(() => Promise.resolve(this.#beginRead(goal)));
    await runChain(this.#run, steps);
    return state;
  }

  #beginRead(goal: ReadGoal): { state: ResourceState; steps: Step[] } {
    const urn = this.#urns.add(goal);
    const { old } = this.#urns.predecessorOf(urn);
    if (goal.id === "") throw this.#run.fail(`an existing resource is looked up by its ID, and ${urn} has none`, urn);
    const { name: _name, ...state } = goal;
    const next = newState({ ...state, urn, custom: true, external: true });
    this.news.set(urn, next);
    this.#markOperatedOn(urn, old);
    // A managed resource with another ID is deleted later; one with the same ID just stops being managed.
    if (old && !old.external && old.id !== goal.id) {
      this.#replaced.add(urn);
      return { state: next, steps: replacing("read-replacement", old, next) };
    }
    return { state: next, steps: [{ op: "read", urn, new: next, ...(old ? { old } : {}) }] };
  }

  async #begin(goal: Goal): Promise<{ state: ResourceState; steps: Step[]; considered?: Considered }> {
    const run = this.#run;
    const urn = this.#urns.add(goal);
    const { old, alias, conflicting } = this.#urns.predecessorOf(urn, goal);
    const next = stateOfGoal(goal, urn, alias);
    next.refreshBeforeUpdate = old?.refreshBeforeUpdate ?? false;
    this.news.set(urn, next);
    if (isProviderType(goal.type)) {
      this.#providers.set(urn, next);
      if (alias !== undefined) this.#providers.set(alias, next);
    }

    const operator = goal.custom ? operatorOf(run, next) : undefined;
    const recreating = this.deletes.has(urn);
    const adopting = old?.external === true;
    const compared = old ? withIgnored(run, urn, goal.inputs, old.inputs, goal.ignoreChanges) : goal.inputs;
    if (operator) {
      // A resource that was deleted, will be replaced or was never ours has no earlier inputs, ignored ones included.
      const fresh = old === undefined || recreating || adopting || old.taint;
      const checking = operator.check(urn, fresh ? {} : old.inputs, fresh ? goal.inputs : compared, run.preview);
      next.inputs = await this.#check(next, checking);
    }
    if (conflicting) throw new ReportedError(`resource ${urn} is invalid`);

    if (old === undefined || recreating || adopting) this.#markOperatedOn(urn, old);
    if (old === undefined) return { state: next, steps: [{ op: "create", urn, new: next }] };
    if (recreating) return { state: next, steps: this.#recreate(old, next) };
    if (adopting) return { state: next, steps: replacing("create-replacement", old, next) };
    return {
      state: next,
      steps: [],
      considered: { goal, old, next, compared: operator ? next.inputs : compared, operator },
    };
  }

  /** Records that the steps are decided. Until then the resource may still be deleted as a dependent of another one. */
  #markOperatedOn(urn: string, old: ResourceState | undefined): void {
    this.operatedOn.add(urn);
    if (old) this.operatedOn.add(old.urn);
  }

  /** The inputs as the provider accepts them. Reports all failures of the check, then throws. */
  async #check({ urn, type }: ResourceState, checking: Promise<Checked>): Promise<PropertyMap> {
    let checked: Checked;
    try {
      checked = await checking;
    } catch (error) {
      throw this.#run.fail(messageOf(error), urn);
    }
    for (const { property, reason } of checked.failures) {
      const where = property === "" ? "" : ` property '${property}'`;
      this.#run.fail(`${type} resource '${nameOf(urn)}'${where} has a problem: ${reason}`, urn);
    }
    if (checked.failures.length > 0) throw new ReportedError(`resource ${urn} is invalid`);
    return checked.inputs;
  }

  #recreate(old: ResourceState, next: ResourceState): Step[] {
    this.deletes.delete(next.urn);
    this.#replaced.add(next.urn);
    return [
      { op: "replace", urn: next.urn, old, new: next },
      { op: "create-replacement", urn: next.urn, old, new: next },
    ];
  }

  /** Asks the provider what changed; a component's inputs are compared. */
  async #diff({ goal, old, next, compared, operator }: Considered): Promise<Difference> {
    const nothing = { replaces: [], changed: [], deleteBeforeReplace: false };
    const because = (reason: string): Difference => ({ ...nothing, changes: "some", replaces: [reason] });
    if (old.taint) return because("id");
    if (next.deletedWith !== "" && this.#replaced.has(next.deletedWith)) return because("deletedWith");
    if (await this.#providerChanged(old, next)) return because("provider");
    if (operator === undefined) return { ...nothing, changes: equal(old.inputs, compared) ? "none" : "some" };
    const run = this.#run;
    return run.slots.use(async () => {
      if (run.aborted) throw new Aborted("aborted");
      try {
        const olds = { urn: next.urn, id: old.id, inputs: old.inputs, outputs: old.outputs };
        return await diffResource(run, operator, olds, next.inputs, goal.ignoreChanges, run.preview);
      } catch (error) {
        if (error instanceof DiffUnavailable) {
          run.warn(error.message, next.urn);
          return { ...nothing, changes: "some" };
        }
        run.abort();
        throw run.fail(messageOf(error), next.urn);
      }
    });
  }

  /** True if another provider forces a replacement. So does a turn from custom resource to component, or back. */
  async #providerChanged(old: ResourceState, next: ResourceState): Promise<boolean> {
    if (old.provider === next.provider) return false;
    if (old.provider === "" || next.provider === "") return true;
    const before = parseReference(old.provider);
    const after = parseReference(next.provider);
    if (this.#urns.isTakenOver(before.urn, after.urn)) return false;
    const olds = this.#run.olds.get(before.urn);
    const provider = this.#run.providers.get(next.provider);
    const configured = this.#providers.get(after.urn);
    if (!olds || !provider || !configured) return false;
    const news = pickVisibleInputs(configured.inputs);
    return needsReplacement(await provider.diffConfig(after.urn, pickVisibleInputs(olds.inputs), olds.outputs, news));
  }

  async #conclude({ goal, old, next, operator }: Considered, answer: Difference): Promise<Step[]> {
    const run = this.#run;
    const { urn } = next;
    this.#markOperatedOn(urn, old);
    // Deleted in the meantime, as a dependent of something else that is replaced.
    if (this.deletes.has(urn)) return this.#recreate(old, next);
    const difference = withReplaceOnChanges(answer, goal.replaceOnChanges, old.initErrors.length > 0);
    const changed = difference.changes === "some" || old.pendingReplacement;
    if (!changed && old.initErrors.length === 0) return [{ op: "same", urn, old, new: next }];
    const changes = changesOf(difference, old, { inputs: next.inputs, outputs: next.inputs });
    if (!changed || !(needsReplacement(difference) || old.pendingReplacement))
      return [{ op: "update", urn, old, new: next, changes }];

    if (next.protect && old.protect) {
      const failure = run.fail(
        `unable to replace resource '${urn}' as it is currently marked for protection. To unprotect the resource, ` +
          "remove the `protect` flag from the resource in your Pulumi program and run `up`",
        urn,
      );
      if (!run.preview) throw failure;
    }
    this.#replaced.add(urn);
    // The inputs so far may carry defaults over from the old resource, which is deleted.
    if (operator && !old.taint) {
      next.inputs = await this.#check(next, operator.check(urn, {}, goal.inputs, run.preview));
    }
    if (goal.deleteBeforeReplace ?? difference.deleteBeforeReplace) {
      const deletions = await this.#deletionsBefore(old, next);
      return [
        ...deletions,
        { op: "replace", urn, old, new: next, changes },
        { op: "create-replacement", urn, old, new: next, changes },
      ];
    }
    return replacing("create-replacement", old, next, changes);
  }

  /** Lists what to delete before a replacement is created: dependents that are replaced too, then the old resource. */
  async #deletionsBefore(old: ResourceState, next: ResourceState): Promise<Step[]> {
    const run = this.#run;
    const steps: Step[] = [];
    const dependents = await dependentsToReplace(run, old, next, this);
    for (const dependent of dependents.toReversed()) {
      if (this.pendingDeletes.has(dependent)) continue;
      if (dependent.protect && !dependent.delete) {
        throw run.fail(
          `unable to replace resource '${dependent.urn}' as part of replacing '${next.urn}' as it is currently marked for ` +
            "protection. To unprotect the resource, remove the `protect` flag from it in your program and run `up`",
          dependent.urn,
        );
      }
      const deletion = { urn: dependent.urn, old: dependent, deletions: this.deletes };
      steps.push(
        dependent.delete ? { op: "delete", ...deletion } : { op: "delete-replaced", recreate: true, ...deletion },
      );
      this.deletes.add(dependent.urn);
      this.pendingDeletes.add(dependent);
    }
    await run.providers.ensure(old.provider, run.resources);
    if (!old.pendingReplacement) {
      this.deletes.add(old.urn);
      steps.push({ op: "delete-replaced", urn: old.urn, old, recreate: true, deletions: this.deletes });
    }
    return steps;
  }
}

/** The new resource comes first, and the old one is deleted at the end of the run. */
const replacing = (
  op: "create-replacement" | "read-replacement",
  old: ResourceState,
  next: ResourceState,
  changes?: ValueChange[],
): Step[] => [
  { op, urn: next.urn, old, new: next, changes, deleteLater: true },
  { op: "replace", urn: next.urn, old, new: next, changes },
];

/** The old resource that a registration continues. */
interface Predecessor {
  old: ResourceState | undefined;
  /** The URN that it had before, when that was another one. */
  alias: string | undefined;
  /** Another registration claims the same resource, which was reported. */
  conflicting: boolean;
}

/** The URNs that a run has registered, and the old ones that they took over by alias. */
class RegisteredUrns {
  readonly #run: Run;
  readonly #urns = new Set<string>();
  readonly #takenOver = new Map<string, string>();
  /** The old URNs by those that took them over. */
  readonly #before = new Map<string, string>();

  constructor(run: Run) {
    this.#run = run;
  }

  /** Makes the URN of a registration. Fails when its parent is missing or the URN was registered before. */
  add({ parent, type, name }: Pick<Goal, "parent" | "type" | "name">): string {
    const run = this.#run;
    if (parent !== "" && !this.#urns.has(parent)) throw run.fail(`could not find parent resource ${parent}`);
    const urn = makeUrn(run.stack, run.project, parent, type, name);
    if (this.#urns.has(urn)) {
      throw run.fail(`Duplicate resource URN '${urn}'; try giving it a unique name`, urn);
    }
    this.#urns.add(urn);
    return urn;
  }

  /** Finds the old resource: by the URN, then by the first alias that exists. Reports conflicts without throwing. */
  predecessorOf(urn: string, goal?: Pick<Goal, "parent" | "type" | "name" | "aliases">): Predecessor {
    const run = this.#run;
    const { stack, project } = run;
    const former = goal ? formerUrns({ stack, project, ...goal }, goal.aliases, this.#before) : [];
    let conflicting = false;
    const conflict = (message: string): void => {
      conflicting = true;
      run.fail(message, urn);
    };
    const owner = this.#takenOver.get(urn);
    if (owner !== undefined)
      conflict(`Duplicate resource URN '${urn}' conflicting with alias on resource with URN '${owner}'`);
    for (const alias of [urn, ...former]) {
      const old = run.olds.get(alias);
      if (!old) continue;
      if (alias === urn) return { old, alias: undefined, conflicting };
      for (const other of [this.#urns.has(alias) ? urn : undefined, this.#takenOver.get(alias)]) {
        if (other === undefined) continue;
        conflict(
          `Duplicate resource alias '${alias}' applied to resource with URN '${urn}' conflicting with resource with URN '${other}'`,
        );
      }
      this.#takenOver.set(alias, urn);
      this.#before.set(urn, alias);
      return { old, alias, conflicting };
    }
    return { old: undefined, alias: undefined, conflicting };
  }

  /** True if a resource took over an old URN by alias. */
  isTakenOver(old: string, by: string): boolean {
    return this.#takenOver.get(old) === by;
  }
}

/** Decisions of the run so far, by URN. */
interface Decisions {
  operatedOn: ReadonlySet<string>;
  deletes: ReadonlySet<string>;
}

/**
 * The old resources that have to be deleted before `root` can be, because the change replaces them too: their providers
 * say so when they are asked with the affected inputs unknown. In dependency order.
 */
async function dependentsToReplace(
  run: Run,
  root: ResourceState,
  next: ResourceState,
  decisions: Decisions,
): Promise<ResourceState[]> {
  const replaced = new Set([root.urn]);
  const found: ResourceState[] = [];
  // Resources registered before the root no longer depend on it.
  const impossible = new Set([...decisions.operatedOn, ...decisions.deletes]);
  const dependents = run.graph.has(root) ? run.graph.dependingOn(root, impossible) : [];
  for (const candidate of dependents) {
    if (!(await isReplaced(run, candidate, replaced))) continue;
    found.push(candidate);
    replaced.add(candidate.urn);
  }
  for (const state of run.olds.values()) {
    const tied = state.deletedWith === root.urn || state.deletedWith === next.urn;
    if (tied && !found.includes(state) && !decisions.operatedOn.has(state.urn)) found.push(state);
  }
  return found;
}

async function isReplaced(run: Run, state: ResourceState, replaced: ReadonlySet<string>): Promise<boolean> {
  if (!state.custom || state.external) return false;
  if (state.provider !== "" && replaced.has(parseReference(state.provider).urn)) {
    // It is deleted with its provider's present configuration.
    await run.providers.ensure(state.provider, run.resources);
    return true;
  }
  if (replaced.has(state.deletedWith)) return true;
  const affected = Object.entries(state.propertyDependencies)
    .filter(([name, urns]) => Object.hasOwn(state.inputs, name) && urns.some((urn) => replaced.has(urn)))
    .map(([name]) => name);
  if (affected.length === 0) return false;
  if (isProviderType(state.type)) await run.providers.same(state);
  else await run.providers.ensure(state.provider, run.resources);
  const inputs: PropertyMap = { ...state.inputs };
  for (const name of affected) inputs[name] = unknown;
  const difference = await diffResource(run, operatorOf(run, state), state, inputs, state.ignoreChanges, true);
  return needsReplacement(withReplaceOnChanges(difference, state.replaceOnChanges, false));
}
