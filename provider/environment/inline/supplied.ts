import type { Place, Value } from "../../layers/document.ts";

/** An output of a program as a value of a declaration: checks use its known value, resources the output. */
export class Supplied {
  readonly output: unknown;
  /** Undefined while it is not known. */
  readonly known: { value: unknown } | undefined;
  readonly isSecret: boolean;

  constructor(output: unknown, known: { value: unknown } | undefined, isSecret: boolean) {
    this.output = output;
    this.known = known;
    this.isSecret = isSecret;
  }
}

/** A declaration of a program as the content of a file: what is wrong with it is reported with its path. */
export function contentOf(declaration: unknown, path = "declaration"): Value {
  const at: Place = { file: path, line: 0, column: 0 };
  if (typeof declaration !== "object" || declaration === null || declaration instanceof Supplied) {
    return { kind: "scalar", at, value: declaration };
  }
  if (Array.isArray(declaration)) {
    return { kind: "list", at, items: declaration.map((item, index) => contentOf(item, `${path}[${index}]`)) };
  }
  const entries = Object.entries(declaration).flatMap(([key, value]: [string, unknown]) => {
    if (value === undefined) return [];
    const below = contentOf(value, path + (/^[\w-]+$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`));
    return [[key, { at: below.at, value: below }] as const];
  });
  return { kind: "map", at, entries: new Map(entries) };
}

/** True for a value that is not known yet. */
export const isPending = (value: Value | undefined): boolean =>
  value?.kind === "scalar" && value.value instanceof Supplied && !value.value.known;
