import type { RowData } from "../../../provider/contract/values.ts";
import { isObject } from "../../../provider/contract/wire.ts";
import { canonical } from "../../../provider/reconcile/digests.ts";

type Kind = "text" | "number" | "boolean" | "linked" | "json";

const kindOf = (value: unknown): Kind => {
  if (typeof value === "string") return "text";
  if (typeof value === "number" || typeof value === "boolean") return typeof value as "number" | "boolean"; // just seen
  return linkOf(value) === undefined ? "json" : "linked";
};

/** ID of the row that a value leads to. */
export const linkOf = (value: unknown): string | undefined =>
  isObject(value) && typeof value["crossAppRowID"] === "string" ? value["crossAppRowID"] : undefined;

/** Nothing, null, empty text and empty list are the same to a seed. */
export const isNothing = (value: unknown): boolean => canonical(value) === undefined;

/** Contents of a table's rows, by label. */
export class Columns {
  readonly #kinds = new Map<string, Set<Kind>>();
  /** By label, the row that the first link found leads to. */
  readonly #links = new Map<string, string>();

  observe(values: RowData): void {
    for (const [label, value] of Object.entries(values)) {
      if (isNothing(value)) continue;
      const kind = kindOf(value);
      const kinds = this.#kinds.get(label);
      if (kinds) kinds.add(kind);
      else this.#kinds.set(label, new Set([kind]));
      if (kind === "linked" && !this.#links.has(label)) this.#links.set(label, linkOf(value) ?? "");
    }
  }

  /** Labels that have a value in any row, in alphabetical order. */
  get labels(): string[] {
    return [...this.#kinds.keys()].sort();
  }

  /** Labels that hold links and nothing else, each with a row that is linked. */
  get links(): [label: string, rowID: string][] {
    return [...this.#links].filter(([label]) => this.#kinds.get(label)?.size === 1).sort();
  }

  /** Form of a label's values in a CSV; JSON for values of several kinds. */
  typeOf(label: string): "text" | "number" | "boolean" | "json" {
    const [kind = "text", ...others] = this.#kinds.get(label) ?? [];
    return others.length > 0 || kind === "linked" ? "json" : kind;
  }
}

/** A value as JSON, the same for the same value: keys are sorted, and of a link only the row counts. */
export function stableJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => {
    const link = linkOf(inner);
    if (link !== undefined) return { crossAppRowID: link };
    return isObject(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner;
  });
}
