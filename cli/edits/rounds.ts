import { EditRefusal, overlaps, splice, type Splice } from "./splices.ts";
import type { TextMember, TextNode, TextTree } from "./textTree.ts";
import { addMember, addToNothing, dropMember, setMember, type Spot } from "./treeEdits.ts";

/** Thrown where a step can't be planned beside those before it: the text is parsed again first. */
class Later extends Error {}

/** Splices of several steps in one tree, before its text is made: they may not be in each other's way. */
export class Round {
  readonly tree: TextTree;
  readonly splices: Splice[] = [];
  readonly #own: Splice[] = [];
  /** Collections that get something at a place, such as the end of the file, where several of them may end. */
  readonly #ends = new Map<number, TextNode>();
  /** Parts that go: nothing is added within one, which would go as well. */
  readonly #dropped: TextNode[] = [];
  readonly #touched = new Map<TextNode, { drops: number; names: Set<string | undefined> }>();

  constructor(tree: TextTree) {
    this.tree = tree;
  }

  set(parent: TextNode, member: TextMember, value: unknown): void {
    this.#take(setMember(this.tree, parent, member, value));
  }

  add(spot: Spot, name: string | undefined, value: unknown): void {
    const { parent } = spot;
    if (this.#dropped.some(({ start, end }) => start <= parent.start && parent.end <= end)) throw new Later();
    const touched = this.#touchedOf(parent);
    const isTwice = name !== undefined && touched.names.has(name);
    if (isTwice || touched.drops > 0 || (parent.members.length === 0 && touched.names.size > 0)) throw new Later();
    const isNothing = parent.kind === "scalar";
    const splices = isNothing ? addToNothing(this.tree, spot, name, value) : addMember(this.tree, spot, name, value);
    touched.names.add(name);
    for (const { start, end } of splices) {
      if (start !== end) continue;
      if ((this.#ends.get(start) ?? parent) !== parent) throw new Later();
      this.#ends.set(start, parent);
    }
    this.#take(splices);
  }

  drop(spot: Spot, member: TextMember): void {
    const { parent } = spot;
    const touched = this.#touchedOf(parent);
    const isLast = touched.drops > 0 && touched.drops + 1 >= parent.members.length;
    if (isLast || touched.names.size > 0) throw new Later();
    // An addition within it goes elsewhere, once it is there.
    const { start, end } = member.node;
    for (const [node, { names }] of this.#touched)
      if (names.size > 0 && start <= node.start && node.end <= end) throw new Later();
    const splices = dropMember(this.tree, spot, member);
    touched.drops++;
    this.#take(splices);
    this.#dropped.push(member.node);
  }

  /** Does a step whole or not at all; false where it waits for the next round. */
  run(step: (round: Round) => void): boolean {
    this.#own.length = 0;
    try {
      step(this);
    } catch (error) {
      if (error instanceof Later && this.splices.length > 0) return false;
      throw error instanceof Later ? new EditRefusal("changes one place twice") : error;
    }
    this.splices.push(...this.#own);
    return true;
  }

  #touchedOf(node: TextNode): { drops: number; names: Set<string | undefined> } {
    const touched = this.#touched.get(node) ?? { drops: 0, names: new Set() };
    this.#touched.set(node, touched);
    return touched;
  }

  #take(splices: readonly Splice[]): void {
    if (splices.some((each) => [...this.splices, ...this.#own].some((other) => overlaps(each, other))))
      throw new Later();
    this.#own.push(...splices);
  }
}

/** A step of an edit, and where its refusal goes. */
export interface TreeStep {
  run: (round: Round) => void;
  refuse: (refusal: EditRefusal, text: string) => void;
}

/** Takes steps one after another, as many in one round as are not in each other's way. */
export function runSteps(text: string, parse: (text: string) => TextTree, steps: readonly TreeStep[]): string {
  let [now, at] = [text, 0];
  while (at < steps.length) {
    const round = new Round(parse(now));
    const from = at;
    for (let step = steps[at]; step; step = steps[++at]) {
      try {
        if (!round.run(step.run)) break;
      } catch (error) {
        if (!(error instanceof EditRefusal)) throw error;
        step.refuse(error, now);
      }
    }
    if (at === from) throw new Error("a round takes at least one step");
    now = splice(now, round.splices);
  }
  return now;
}
