import type { RowData } from "../../platform/contract/values.ts";
import { isObject } from "../../platform/contract/wire.ts";
import { quote } from "../../platform/messages/text.ts";
import { keyText } from "./digests.ts";

/** Rows of one table by one label, in both directions: what a reference to that table is looked up in. */
export class Lookup {
  readonly #ids = new Map<string, string>();
  readonly #keys = new Map<string, string>();
  readonly #ambiguous = new Set<string>();

  /** Takes in a row of the table; one without a key is left out. */
  add(key: unknown, rowID: string): void {
    const text = keyText(key);
    if (text === undefined) return;
    if (this.#ids.has(text)) this.#ambiguous.add(text);
    else this.#ids.set(text, rowID);
    this.#keys.set(rowID, text);
  }

  /** ID of the row with this key, or why there is none. */
  find(key: unknown): { id: string } | { reason: "missing" | "ambiguous" } {
    const text = keyText(key) ?? "";
    if (this.#ambiguous.has(text)) return { reason: "ambiguous" };
    const id = this.#ids.get(text);
    return id === undefined ? { reason: "missing" } : { id };
  }

  /** Key of the row with this ID. */
  keyOf(rowID: string): string | undefined {
    return this.#keys.get(rowID);
  }
}

/** A reference that leads nowhere, or to several rows. */
export interface Unresolved {
  /** Line of the source. */
  line: number;
  label: string;
  key: string;
  reason: "missing" | "ambiguous";
}

/** Where a label of the source leads. */
export interface Reference {
  lookup: Lookup;
  /** Label of the parent table that holds the key. */
  key: string;
}

/**
 * The references of one seed. In the source a reference is the natural key of a row of another table; on the platform
 * it is a linked value with that row's ID. Digests are taken of natural keys, so that they can be compared offline:
 * `inSourceTerms` replaces the IDs of live rows by them, and `rowDigester` gets the labels that are references.
 */
export class References {
  /** Every reference that could not be resolved, in the order of the source. */
  readonly unresolved: Unresolved[] = [];
  readonly #references: ReadonlyMap<string, Reference>;

  constructor(references: Readonly<Record<string, Reference>>) {
    this.#references = new Map(Object.entries(references));
  }

  /** The values as they are sent. A reference without a value is sent as null, which clears it. */
  resolve(values: RowData, line: number): RowData {
    if (this.#references.size === 0) return values;
    const resolved = { ...values };
    for (const [label, { lookup, key }] of this.#references) {
      if (!Object.hasOwn(values, label)) continue;
      const text = keyText(values[label]);
      if (text === undefined) {
        resolved[label] = null;
        continue;
      }
      const found = lookup.find(values[label]);
      if ("id" in found) resolved[label] = { crossAppRowID: found.id, value: { label: key, value: values[label] } };
      else this.unresolved.push({ line, label, key: text, reason: found.reason });
    }
    return resolved;
  }

  /** Labels under which a live row links to a row that is not there. */
  lostLabels(live: RowData): string[] {
    const lost: string[] = [];
    for (const [label, { lookup }] of this.#references) {
      const value = live[label];
      if (!isObject(value) || typeof value["crossAppRowID"] !== "string") continue;
      if (lookup.keyOf(value["crossAppRowID"]) === undefined) lost.push(label);
    }
    return lost;
  }

  /**
   * A live row with keys in place of linked values. For a deleted row the platform's copy holds the key, if there is
   * one; else the link is left unchanged.
   */
  inSourceTerms(live: RowData): RowData {
    if (this.#references.size === 0) return live;
    const values = { ...live };
    for (const [label, { lookup, key }] of this.#references) {
      const value = live[label];
      // Some platforms read a link as the row's ID alone.
      if (typeof value === "string") values[label] = lookup.keyOf(value) ?? value;
      if (!isObject(value) || typeof value["crossAppRowID"] !== "string") continue;
      values[label] = lookup.keyOf(value["crossAppRowID"]) ?? copiedKey(value["value"], key) ?? value;
    }
    return values;
  }
}

const copiedKey = (copy: unknown, key: string): string | undefined =>
  isObject(copy) && copy["label"] === key ? keyText(copy["value"]) : undefined;

/**
 * Problems of the references, one sentence for each key, with every line that has it; in the order of the source.
 * @param place a line of the source for people, e.g. `cities.csv:17`
 * @param isHidden true for labels whose keys are secret
 */
export function describeUnresolved(
  unresolved: readonly Unresolved[],
  place: (line: number) => string,
  isHidden: (label: string) => boolean,
): string[] {
  const grouped = Map.groupBy(unresolved, ({ label, key, reason }) => JSON.stringify([label, key, reason]));
  return [...grouped.values()].flatMap((same) => {
    const [first] = same;
    if (!first) return [];
    const places = same.slice(0, 5).map(({ line }) => place(line));
    const more = same.length > places.length ? ` and ${same.length - places.length} more lines` : "";
    const what = first.reason === "missing" ? "there is no row" : "there is more than one row";
    const which = isHidden(first.label) ? "a row" : quote(first.key);
    return `${places.join(", ")}${more}: ${first.label} refers to ${which}, but ${what} with that key`;
  });
}
