import type { ResourceState } from "../state/resourceState.ts";
import { formerUrns } from "../values/aliases.ts";
import { makeUrn } from "../values/urns.ts";
import type { Goal } from "./goal.ts";
import type { Run } from "./run.ts";

/** The old resource that a registration continues. */
interface Predecessor {
  old: ResourceState | undefined;
  /** The URN that it had before, when that was another one. */
  alias: string | undefined;
  /** Another registration claims the same resource, which was reported. */
  conflicting: boolean;
}

/** The URNs that a run has registered, and the old ones that they took over by alias. */
export class RegisteredUrns {
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
