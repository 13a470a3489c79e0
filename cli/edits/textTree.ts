/** A value of a JSON or YAML text that knows which characters it consists of. */
export interface TextNode {
  kind: "scalar" | "map" | "list";
  /** Without an anchor or a tag before it. */
  start: number;
  /** Behind its last character: neither white space nor comments follow within it. */
  end: number;
  /** True if it stands in brackets or is a scalar on its lines alone; false for what only its indentation shows. */
  isInline: boolean;
  /** Quotation marks of a scalar. */
  style?: "plain" | "single" | "double" | "block";
  members: readonly TextMember[];
  /** Why it is not edited, with what is in it: an alias, or an anchor that others repeat. */
  locked?: string;
  /** Why it is not replaced or removed as a whole, although its parts may be edited. */
  held?: string;
  /** The value, read when somebody asks. */
  plain: () => unknown;
}

/** An entry of a map, or an item of a list. */
export interface TextMember {
  name?: string;
  /** Where it begins: its key, or the dash of a block list. */
  start: number;
  /** Where its value may begin: behind the colon or the dash. */
  after: number;
  node: TextNode;
  /** Why it is not edited: it is written in a rare form. */
  locked?: string;
}

/** A text as a tree, and how values are written in it. */
export interface TextTree {
  text: string;
  root: TextNode;
  /**
   * Writes a member of a map (with a name) or of a list on one line, or between brackets.
   * @param like a member beside it, whose layout it takes
   */
  writeInline: (name: string | undefined, value: unknown, like: Like | undefined) => string;
  /** Writes a scalar in the place of one of this style. */
  writeScalar: (value: unknown, style: TextNode["style"]) => string;
  /** Writes what stands behind a colon or a dash, from its line on, indented by so many columns; not for JSON. */
  writeBlock: ((name: string | undefined, value: unknown, column: number) => string) | undefined;
}

/** A member, and the collection that holds it. */
export interface Like {
  parent: TextNode;
  member: TextMember | undefined;
}
