import { isObject } from "../../../provider/contract/wire.ts";
import { Mask, shortestSecret } from "../../../provider/messages/masks.ts";
import { opens, type PrivateKind } from "./kinds.ts";
import { layersOf } from "./layers.ts";
import { vocabulary } from "./vocabulary.ts";

/** Bytes from which on what lets somebody in is found inside a word. */
const insideFrom = 6;

const short = (value: string): boolean => value.length < shortestSecret;

/** Finds secrets and people in texts, however they are spelled. */
export class Finder {
  readonly #entries: ReadonlyMap<string, PrivateKind>;
  readonly #masks: readonly Mask[];
  readonly #lineMasks: readonly Mask[];

  constructor(entries: ReadonlyMap<string, PrivateKind>) {
    this.#entries = entries;
    const isOpen = ([, kind]: [string, PrivateKind]): boolean => opens.has(kind);
    const parts = [[...entries].filter(isOpen), [...entries].filter((entry) => !isOpen(entry))];
    const masks = (clear: readonly string[]): Mask[] =>
      parts.map(
        (part, index) =>
          new Mask(
            part.map(([value]) => value),
            clear,
            index === 0 ? insideFrom : undefined,
          ),
      );
    this.#masks = masks([]);
    this.#lineMasks = masks([...vocabulary]);
  }

  /** True when a text contains a secret. A secret of three characters only counts as the whole text. */
  holds(text: string): boolean {
    return [...layersOf(text)].some(
      (layer) => this.#entries.has(layer) || this.#masks.some((mask) => mask.hides(layer)),
    );
  }

  /** The kind of secret that a value contains, keys included; undefined without one. */
  kindIn(value: unknown): PrivateKind | undefined {
    if (typeof value === "string" || typeof value === "number") return this.#kindOf(String(value));
    if (Array.isArray(value)) return firstOf(value, (item) => this.kindIn(item));
    if (!isObject(value)) return undefined;
    return firstOf(Object.entries(value), ([key, inner]) => this.#kindOf(key) ?? this.kindIn(inner));
  }

  /** The kind of secret in a line of a file, apart from words that such a file always has. */
  kindInLine(line: string): PrivateKind | undefined {
    return [...layersOf(line)].some((layer) => this.#lineMasks.some((mask) => mask.hides(layer)))
      ? this.#culprit(line)
      : undefined;
  }

  #kindOf(text: string): PrivateKind | undefined {
    if (vocabulary.has(text) || !this.holds(text)) return undefined;
    return this.#entries.get(text) ?? this.#culprit(text);
  }

  #culprit(text: string): PrivateKind {
    const isIn = ([value, kind]: [string, PrivateKind]): boolean =>
      layers.includes(value) || (!short(value) && layers.some((layer) => maskOf(value, kind).hides(layer)));
    const layers = [...layersOf(text)];
    const maskOf = (value: string, kind: PrivateKind): Mask =>
      new Mask([value], [], opens.has(kind) ? insideFrom : undefined);
    return [...this.#entries].find(isIn)?.[1] ?? "secret";
  }
}

function firstOf<Item>(
  items: readonly Item[],
  kindOf: (item: Item) => PrivateKind | undefined,
): PrivateKind | undefined {
  for (const item of items) {
    const kind = kindOf(item);
    if (kind !== undefined) return kind;
  }
  return undefined;
}
