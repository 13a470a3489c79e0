import { messageOf, Told } from "../errors.ts";
import { visible } from "../providers/packageVersions.ts";
import { type Checked, type Difference, DiffUnavailable } from "../providers/provider.ts";
import type { Operator } from "../providers/registry.ts";
import { newState, type ResourceState } from "../state/resourceState.ts";
import { parseReference } from "../values/urns.ts";
import { isProviderType, makeUrn, nameOf, typeOf } from "../values/urns.ts";
import { equal, type Properties } from "../values/values.ts";
import { Queue } from "./concurrency.ts";
import { dependentsToReplace } from "./dependentReplacements.ts";
import type { Goal, ReadGoal } from "./goal.ts";
import { changesOf, difference, needsReplacement, withIgnored, withReplaceOnChanges } from "./resourceDiff.ts";
import type { Run } from "./run.ts";
import { Aborted, operatorOf, runChain, type Step } from "./stepExecutor.ts";

/** A registration between the check of its inputs and the decision what to do. */
interface Considered {
  goal: Goal;
  old: ResourceState;
  now: ResourceState;
  /** The inputs to compare: a component keeps those that the program gave, the ignored ones among them. */
  compared: Properties;
  operator: Operator | undefined;
}

/** Decides what each registered resource needs: nothing, a create, an update or a replacement. */
export class Generator {
  readonly #run: Run;
  /** Decisions are taken one after the other; diffs and steps run beside each other. */
  readonly #queue = new Queue();
  readonly #urns = new Set<string>();
  /** Old URN → the resource that took it over, and the reverse. */
  readonly #aliased = new Map<string, string>();
  readonly #providers = new Map<string, ResourceState>();
  readonly #replaced = new Set<string>();
  /** URNs for which it was decided what to do, old ones of aliased resources among them. */
  readonly operatedOn = new Set<string>();
  /** URNs that are deleted in this run. */
  readonly deletes = new Set<string>();
  /** States deleted before their turn, as dependents of a replacement. */
  readonly condemned = new Set<ResourceState>();
  /** What was registered, in its new state. */
  readonly news = new Map<string, ResourceState>();

  constructor(run: Run) {
    this.#run = run;
  }

  /** Brings one resource to its goal; resolves when that is done and saved. */
  async register(goal: Goal): Promise<ResourceState> {
    const begun = await this.#decide(() => this.#begin(goal));
    let { steps } = begun;
    const { considered } = begun;
    if (considered) {
      const said = await this.#ask(considered);
      steps = await this.#decide(() => this.#conclude(considered, said));
    }
    await runChain(this.#run, steps);
    return begun.state;
  }

  /** Failures of a decision are told and end the run. */
  #decide<T>(work: () => Promise<T>): Promise<T> {
    return this.#queue.run(async () => {
      if (this.#run.aborted) throw new Aborted("aborted");
      try {
        return await work();
      } catch (error) {
        this.#run.abort();
        if (error instanceof Told) throw error;
        throw this.#run.fail(messageOf(error));
      }
    });
  }

  /** Looks at something that exists already; resolves when what is there is known and saved. */
  async read(goal: ReadGoal): Promise<ResourceState> {
    const { state, steps } = await this.#decide(() => Promise.resolve(this.#beginRead(goal)));
    await runChain(this.#run, steps);
    return state;
  }

  #beginRead(goal: ReadGoal): { state: ResourceState; steps: Step[] } {
    const urn = this.#newUrn(goal);
    const { old } = this.#oldOf(urn, []);
    if (goal.id === "") throw this.#run.fail(`an existing resource is looked up by its ID, and ${urn} has none`, urn);
    const { name: _name, ...given } = goal;
    const now = newState({ ...given, urn, custom: true, external: true });
    this.news.set(urn, now);
    this.#settle(urn, old);
    // What was ours and is another thing than the one to look at, goes; the same one is only let go of.
    if (old && !old.external && old.id !== goal.id) {
      this.#replaced.add(urn);
      return {
        state: now,
        steps: [
          { op: "read-replacement", urn, old, now, deleteLater: true },
          { op: "replace", urn, old, now },
        ],
      };
    }
    return { state: now, steps: [{ op: "read", urn, now, ...(old ? { old } : {}) }] };
  }

  #newUrn(goal: Pick<Goal, "parent" | "type" | "name">): string {
    const run = this.#run;
    if (goal.parent !== "" && !this.#urns.has(goal.parent))
      throw run.fail(`could not find parent resource ${goal.parent}`);
    const urn = makeUrn(run.stack, run.project, goal.parent, goal.type, goal.name);
    if (this.#urns.has(urn)) {
      throw run.fail(`Duplicate resource URN '${urn}'; try giving it a unique name`, urn);
    }
    this.#urns.add(urn);
    return urn;
  }

  async #begin(goal: Goal): Promise<{ state: ResourceState; steps: Step[]; considered?: Considered }> {
    const run = this.#run;
    const urn = this.#newUrn(goal);
    const { old, alias, conflicting } = this.#oldOf(urn, goal.aliases);
    const now = stateOf(goal, urn, alias);
    now.refreshBeforeUpdate = old?.refreshBeforeUpdate ?? false;
    this.news.set(urn, now);
    if (isProviderType(goal.type)) {
      this.#providers.set(urn, now);
      if (alias !== undefined) this.#providers.set(alias, now);
    }

    const operator = goal.custom ? operatorOf(run, now) : undefined;
    const recreating = this.deletes.has(urn);
    const adopting = old?.external === true;
    const compared = old ? withIgnored(run, urn, goal.inputs, old.inputs, goal.ignoreChanges) : goal.inputs;
    if (operator) {
      // What was deleted or is to be replaced, or was never ours, has no inputs to go on with, ignored ones among them.
      const fresh = old === undefined || recreating || adopting || old.taint;
      const checking = operator.check(urn, fresh ? {} : old.inputs, fresh ? goal.inputs : compared, run.preview);
      now.inputs = this.#accepted(urn, now, await this.#checked(urn, checking));
    }
    if (conflicting) throw new Told(`resource ${urn} is invalid`);

    if (old === undefined || recreating || adopting) this.#settle(urn, old);
    if (old === undefined) return { state: now, steps: [{ op: "create", urn, now }] };
    if (recreating) return { state: now, steps: this.#recreate(old, now) };
    if (adopting) {
      return {
        state: now,
        steps: [
          { op: "create-replacement", urn, old, now, deleteLater: true },
          { op: "replace", urn, old, now },
        ],
      };
    }
    return {
      state: now,
      steps: [],
      considered: { goal, old, now, compared: operator ? now.inputs : compared, operator },
    };
  }

  /** Until then a resource may still be found to depend on something that has to be deleted first. */
  #settle(urn: string, old: ResourceState | undefined): void {
    this.operatedOn.add(urn);
    if (old) this.operatedOn.add(old.urn);
  }

  async #checked(urn: string, checking: Promise<Checked>): Promise<Checked> {
    try {
      return await checking;
    } catch (error) {
      throw this.#run.fail(messageOf(error), urn);
    }
  }

  #accepted(urn: string, state: ResourceState, { inputs, failures }: Checked): ResourceState["inputs"] {
    for (const { property, reason } of failures) {
      const where = property === "" ? "" : ` property '${property}'`;
      this.#run.fail(`${state.type} resource '${nameOf(urn)}'${where} has a problem: ${reason}`, urn);
    }
    if (failures.length > 0) throw new Told(`resource ${urn} is invalid`);
    return inputs;
  }

  /** First by its URN, then by the first alias that exists. Conflicts are told; the inputs are checked all the same. */
  #oldOf(
    urn: string,
    aliases: readonly string[],
  ): { old: ResourceState | undefined; alias: string | undefined; conflicting: boolean } {
    const run = this.#run;
    let conflicting = false;
    const conflict = (message: string): void => {
      conflicting = true;
      run.fail(message, urn);
    };
    const claimed = this.#aliased.get(urn);
    if (claimed !== undefined)
      conflict(`Duplicate resource URN '${urn}' conflicting with alias on resource with URN '${claimed}'`);
    for (const alias of [urn, ...aliases]) {
      const old = run.olds.get(alias);
      if (!old) continue;
      if (alias === urn) return { old, alias: undefined, conflicting };
      for (const other of [this.#urns.has(alias) ? urn : undefined, this.#aliased.get(alias)]) {
        if (other === undefined) continue;
        conflict(
          `Duplicate resource alias '${alias}' applied to resource with URN '${urn}' conflicting with resource with URN '${other}'`,
        );
      }
      this.#aliased.set(alias, urn);
      return { old, alias, conflicting };
    }
    return { old: undefined, alias: undefined, conflicting };
  }

  #recreate(old: ResourceState, now: ResourceState): Step[] {
    this.deletes.delete(now.urn);
    this.#replaced.add(now.urn);
    return [
      { op: "replace", urn: now.urn, old, now },
      { op: "create-replacement", urn: now.urn, old, now },
    ];
  }

  /** What changed, from the provider or, where there is none, from the inputs. */
  async #ask({ goal, old, now, compared, operator }: Considered): Promise<Difference> {
    const nothing = { replaces: [], changed: [], deleteBeforeReplace: false };
    const because = (reason: string): Difference => ({ ...nothing, changes: "some", replaces: [reason] });
    if (old.taint) return because("id");
    if (now.deletedWith !== "" && this.#replaced.has(now.deletedWith)) return because("deletedWith");
    if (await this.#providerChanged(old, now)) return because("provider");
    if (operator === undefined) return { ...nothing, changes: equal(old.inputs, compared) ? "none" : "some" };
    const run = this.#run;
    return run.slots.use(async () => {
      if (run.aborted) throw new Aborted("aborted");
      try {
        const olds = { urn: now.urn, id: old.id, inputs: old.inputs, outputs: old.outputs };
        return await difference(run, operator, olds, now.inputs, goal.ignoreChanges, run.preview);
      } catch (error) {
        if (error instanceof DiffUnavailable) {
          run.warn(error.message, now.urn);
          return { ...nothing, changes: "some" };
        }
        run.abort();
        throw run.fail(messageOf(error), now.urn);
      }
    });
  }

  /** A resource that turned from custom to component or back; or whose new provider says that it must be replaced. */
  async #providerChanged(old: ResourceState, now: ResourceState): Promise<boolean> {
    if (old.provider === now.provider) return false;
    if (old.provider === "" || now.provider === "") return true;
    const before = parseReference(old.provider);
    const after = parseReference(now.provider);
    if (this.#aliased.get(before.urn) === after.urn) return false;
    const olds = this.#run.olds.get(before.urn);
    const provider = this.#run.providers.get(now.provider);
    const news = this.#providers.get(after.urn);
    if (!olds || !provider || !news) return false;
    const said = await provider.diffConfig(after.urn, visible(olds.inputs), olds.outputs, visible(news.inputs));
    return needsReplacement(said);
  }

  async #conclude({ goal, old, now, operator }: Considered, answered: Difference): Promise<Step[]> {
    const run = this.#run;
    const { urn } = now;
    this.#settle(urn, old);
    // Deleted in the meantime, as a dependent of something else that is replaced.
    if (this.deletes.has(urn)) return this.#recreate(old, now);
    const said = withReplaceOnChanges(answered, goal.replaceOnChanges, old.initErrors.length > 0);
    const changed = said.changes === "some" || old.pendingReplacement;
    const same: Step = { op: "same", urn, old, now };
    if (!changed && old.initErrors.length === 0) return [same];
    const changes = changesOf(said, old, { inputs: now.inputs, outputs: now.inputs });
    if (!changed || !(needsReplacement(said) || old.pendingReplacement))
      return [{ op: "update", urn, old, now, changes }];

    if (now.protect && old.protect) {
      const failed = run.fail(
        `unable to replace resource '${urn}' as it is currently marked for protection. To unprotect the resource, ` +
          "remove the `protect` flag from the resource in your Pulumi program and run `up`",
        urn,
      );
      if (!run.preview) throw failed;
    }
    this.#replaced.add(urn);
    // The inputs so far may carry defaults over from the old resource, which goes.
    if (operator && !old.taint)
      now.inputs = this.#accepted(
        urn,
        now,
        await this.#checked(urn, operator.check(urn, {}, goal.inputs, run.preview)),
      );
    if (!(goal.deleteBeforeReplace ?? said.deleteBeforeReplace)) {
      return [
        { op: "create-replacement", urn, old, now, changes, deleteLater: true },
        { op: "replace", urn, old, now, changes },
      ];
    }
    const steps: Step[] = [];
    const dependents = await dependentsToReplace(run, old, now, this);
    for (const dependent of dependents.toReversed()) {
      if (this.condemned.has(dependent)) continue;
      if (dependent.protect && !dependent.delete) {
        throw run.fail(
          `unable to replace resource '${dependent.urn}' as part of replacing '${urn}' as it is currently marked for ` +
            "protection. To unprotect the resource, remove the `protect` flag from it in your program and run `up`",
          dependent.urn,
        );
      }
      const deletion = { urn: dependent.urn, old: dependent, deletions: this.deletes };
      steps.push(
        dependent.delete ? { op: "delete", ...deletion } : { op: "delete-replaced", recreate: true, ...deletion },
      );
      this.deletes.add(dependent.urn);
      this.condemned.add(dependent);
    }
    await run.providers.ensure(old.provider, run.resources);
    if (!old.pendingReplacement) {
      this.deletes.add(old.urn);
      steps.push({ op: "delete-replaced", urn: old.urn, old, recreate: true, deletions: this.deletes });
    }
    return [...steps, { op: "replace", urn, old, now, changes }, { op: "create-replacement", urn, old, now, changes }];
  }
}

function stateOf(goal: Goal, urn: string, alias: string | undefined): ResourceState {
  return newState({
    urn,
    type: typeOf(urn),
    custom: goal.custom,
    inputs: goal.inputs,
    parent: goal.parent,
    provider: goal.provider,
    dependencies: goal.dependencies,
    propertyDependencies: goal.propertyDependencies,
    protect: goal.protect ?? false,
    retainOnDelete: goal.retainOnDelete ?? false,
    deletedWith: goal.deletedWith,
    additionalSecretOutputs: goal.additionalSecretOutputs,
    customTimeouts: goal.customTimeouts,
    ignoreChanges: goal.ignoreChanges,
    replaceOnChanges: goal.replaceOnChanges,
    hideDiff: goal.hideDiff,
    sourcePosition: goal.sourcePosition,
    stackTrace: goal.stackTrace,
    aliases: alias === undefined ? [] : [alias],
  });
}
