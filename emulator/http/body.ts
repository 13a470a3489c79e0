import { invalid } from "../data/platformError.ts";

const deepest = 64;

/** The JSON document in a body; an empty body is none. Nesting is bounded, because what reads it recurses. */
export function parseBody(body: Buffer): unknown {
  if (body.length === 0) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(body.toString("utf8"));
  } catch {
    throw invalid("the body is not valid JSON");
  }
  let level: object[] = typeof value === "object" && value !== null ? [value] : [];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > deepest) throw invalid(`the body is nested more than ${deepest} levels deep`);
    const next: object[] = [];
    for (const container of level) {
      for (const inner of Object.values(container) as unknown[]) {
        if (typeof inner === "object" && inner !== null) next.push(inner);
      }
    }
    level = next;
  }
  return value;
}
