import type { Node } from "jsonc-parser";

/** The property nodes of an object, or the items of a list. */
export const childrenOf = (node: Node | undefined): readonly Node[] => node?.children ?? [];

export const keyOf = (property: Node): string => String(property.children?.[0]?.value);
export const valueOf = (property: Node | undefined): Node | undefined => property?.children?.[1];

/** The property of an object with this name. */
export const propertyOf = (object: Node | undefined, name: string): Node | undefined =>
  object?.type === "object" ? childrenOf(object).find((property) => keyOf(property) === name) : undefined;

const endOf = ({ offset, length }: Node): number => offset + length;

/** Changes a JSON text and leaves all other bytes unchanged. */
export class JsonEdits {
  readonly #text: string;
  readonly #edits: { offset: number; length: number; text: string }[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  /** Puts a text in place of a value, or of the name of a property. */
  replace({ offset, length }: Node, value: string): void {
    this.#edits.push({ offset, length, text: JSON.stringify(value) });
  }

  rename(property: Node, name: string): void {
    const key = property.children?.[0];
    if (key) this.replace(key, name);
  }

  /** Takes properties out of an object, or items out of a list. */
  drop(parent: Node, isDropped: (child: Node) => boolean): void {
    const children = childrenOf(parent);
    const lastKept = children.findLastIndex((child) => !isDropped(child));
    for (const [at, child] of children.entries()) {
      if (!isDropped(child)) continue;
      const [next, previous] = [children[at + 1], children[at - 1]];
      const [from, to] =
        at < lastKept && next
          ? [child.offset, next.offset]
          : [previous ? endOf(previous) : parent.offset + 1, endOf(child)];
      this.#edits.push({ offset: from, length: to - from, text: "" });
    }
  }

  /** Adds texts to an object whose names are sorted, as engines write them. */
  put(object: Node, values: Readonly<Record<string, string>>): void {
    const children = childrenOf(object);
    const last = children.at(-1);
    for (const [name, value] of Object.entries(values).toSorted(([one], [other]) => (one < other ? -1 : 1))) {
      const property = JSON.stringify(name) + this.#colon(last) + JSON.stringify(value);
      const next = children.find((child) => keyOf(child) > name);
      if (next) this.#insert(next.offset, `${property},${this.#before(next)}`);
      else if (last) this.#insert(endOf(last), `,${this.#before(last)}${property}`);
      else this.#insert(object.offset + 1, property);
    }
  }

  /** Adds an item to a list, written as it stands. */
  insertAfter(item: Node, text: string): void {
    this.#insert(endOf(item), `,${this.#before(item)}${text}`);
  }

  /** The text with all changes, or the part of it that a node is. */
  applied(
    { offset: start, length }: Pick<Node, "offset" | "length"> = { offset: 0, length: this.#text.length },
  ): string {
    const within = this.#edits.filter(({ offset }) => offset >= start && offset < start + length);
    let [result, at] = ["", start];
    for (const { offset, length, text } of within.toSorted((a, b) => a.offset - b.offset || a.length - b.length)) {
      if (offset < at) continue; // within what is dropped
      result += this.#text.slice(at, offset) + text;
      at = offset + length;
    }
    return result + this.#text.slice(at, start + length);
  }

  #insert(offset: number, text: string): void {
    this.#edits.push({ offset, length: 0, text });
  }

  /** The white space before a property or an item. */
  #before({ offset }: Node): string {
    return /\s*$/.exec(this.#text.slice(Math.max(0, offset - 200), offset))?.[0] ?? "";
  }

  /** The text between the name of a property and its value. */
  #colon(property: Node | undefined): string {
    const [key, value] = property?.children ?? [];
    return key && value ? this.#text.slice(endOf(key), value.offset) : ": ";
  }
}
