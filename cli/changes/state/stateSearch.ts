import type { LogicalName } from "../../../provider/environment/things/logicalNames.ts";
import type { StateResource } from "./state.ts";

/** Resources of a state by what they are called, or were called; each is found once. */
export class Search {
  readonly #resources: ReadonlyMap<string, StateResource>;
  readonly #found = new Set<StateResource>();

  constructor(resources: readonly StateResource[]) {
    this.#resources = new Map(resources.map((each) => [`${each.kind} ${each.name}`, each]));
  }

  find(kind: string, { now, own, inherited }: LogicalName): StateResource | undefined {
    const found = [now, ...own, ...inherited].flatMap((name) => this.#resources.get(`${kind} ${name}`) ?? [])[0];
    if (found) this.#found.add(found);
    return found;
  }

  /** Resources of a kind directly below a name that nobody asked for. */
  leftBelow(kind: string, names: readonly string[]): StateResource[] {
    const left = this.left().filter(
      (each) => each.kind === kind && names.includes(each.name.slice(0, each.name.lastIndexOf("/"))),
    );
    for (const each of left) this.#found.add(each);
    return left;
  }

  left(): StateResource[] {
    return [...this.#resources.values()].filter((each) => !this.#found.has(each));
  }
}
