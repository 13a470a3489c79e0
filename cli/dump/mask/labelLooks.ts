import { findLookalikes, kindOfLabel, looksLikeNames, type Lookalike } from "./lookalikes.ts";
import type { MaskedKind, MasksFile } from "./masksFile.ts";

/** Part of a label's texts that have to look like names before the label does. */
const fraction = 0.5;

/** Kinds that the values of a label look like. */
export class LabelLooks {
  readonly #kind: MaskedKind | undefined;
  readonly #open = new Set<MaskedKind>();
  #texts = 0;
  #names = 0;
  #covered = 0;
  #values = 0;

  constructor(label: string) {
    this.#kind = kindOfLabel(label);
  }

  /** Looks at a value, and returns the parts of it that look like a kind. */
  see(value: unknown, rules: MasksFile["kinds"]): Lookalike[] {
    if (value === null || value === "") return [];
    this.#values++;
    // A telephone number may be a number: its label alone shows it.
    if (typeof value === "number" && this.#kind) this.#open.add(this.#kind);
    if (typeof value !== "string") return [];
    this.#texts++;
    const seen = findLookalikes(value);
    const parts = seen.length === 0 && this.#kind ? [{ kind: this.#kind, text: value }] : seen;
    for (const { kind } of parts) if (!rules[kind]) this.#open.add(kind);
    const [first] = parts;
    if (first && rules[first.kind] && first.text === value) this.#covered++;
    else if (!first && looksLikeNames(value)) {
      this.#names++;
      if (rules.name) this.#covered++;
      if (rules.name) return [{ kind: "name", text: value }];
    }
    return parts;
  }

  /** Kinds that the values look like and that have no rule. */
  listOpen(rules: MasksFile["kinds"]): MaskedKind[] {
    const hasNames = this.#names > 0 && this.#names >= this.#texts * fraction && !rules.name;
    return [...new Set([...this.#open, ...(hasNames ? (["name"] as const) : [])])].sort();
  }

  /** True when every value is masked by the rule of its kind. */
  get isCovered(): boolean {
    return this.#values > 0 && this.#covered === this.#values;
  }
}
