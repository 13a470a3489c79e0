import { isUtf8 } from "node:buffer";
import { invalid } from "../data/platformError.ts";

const deepest = 64;

/**
 * The JSON document in a body; an empty body is none. What could only be kept as something else is refused: bytes that
 * are no UTF-8, halves of characters, numbers beyond 1.8e308. Nesting is bounded, because what reads it recurses.
 */
export function parseBody(body: Buffer): unknown {
  if (body.length === 0) return undefined;
  const value = parsed(body);
  requireKeepable(value);
  let level: object[] = typeof value === "object" && value !== null ? [value] : [];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > deepest) throw invalid(`the body is nested more than ${deepest} levels deep`);
    const next: object[] = [];
    for (const container of level) {
      for (const inner of Object.values(container) as unknown[]) {
        if (typeof inner === "object" && inner !== null) next.push(inner);
        else requireKeepable(inner);
      }
    }
    level = next;
  }
  return value;
}

function parsed(body: Buffer): unknown {
  if (!isUtf8(body)) throw invalid("the body is not valid UTF-8");
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    throw invalid("the body is not valid JSON");
  }
}

function requireKeepable(value: unknown): void {
  if (value === Infinity || value === -Infinity) throw invalid("the body has a number beyond 1.8e308");
  if (typeof value === "string" && !value.isWellFormed()) {
    throw invalid("the body has half of a character: a surrogate, such as \\ud800, stands alone");
  }
}
