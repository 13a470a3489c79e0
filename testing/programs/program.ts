/** An expression of a program, whatever its language; `at` is its offset in the file. */
export type Expression =
  | { kind: "text"; at: number; text: string }
  | { kind: "list"; at: number; items: Expression[] }
  | { kind: "map"; at: number; entries: Entry[] }
  | { kind: "variable"; at: number; name: string }
  /** Something of the package, as the language spells it: `get_team`, `TeamArgs`, `microapps:Team`. */
  | { kind: "member"; at: number; name: string }
  /** `name` is missing where it is an index. */
  | { kind: "select"; at: number; from: Expression; name?: string }
  /** A call or a literal with a type. `open` when not all of its arguments can be seen. */
  | { kind: "call"; at: number; callee: Expression; entries: Entry[]; items: Expression[]; open?: boolean }
  | { kind: "other"; at: number; parts: Expression[] };

/** A named argument, a field, or a key of a map; keys that are computed have no name. */
export interface Entry {
  name?: string;
  at: number;
  value: Expression;
}

/** A program as a list of what it does; `binds` is the variable that holds the value afterwards. */
export interface Program {
  statements: { binds?: string; value?: Expression }[];
  /** Whether every variable is bound here, so that another one is a mistake. */
  closed: boolean;
  problems: Problem[];
}

export interface Problem {
  at: number;
  message: string;
}

/** `examples/go/main.go:12:5: …` */
export function located(file: string, text: string, { at, message }: Problem): string {
  const before = text.slice(0, at).split("\n");
  return `${file}:${before.length}:${(before.at(-1)?.length ?? 0) + 1}: ${message}`;
}
