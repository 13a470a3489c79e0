import { isObject, type Json } from "../../provider/contract/wire.ts";
import type { Database } from "../data/database.ts";

/** Takes back what a call has changed; its answer stays. */
class TakenBack extends Error {
  readonly answer: unknown;
  constructor(answer: unknown) {
    super();
    this.answer = answer;
  }
}

/**
 * Carries a write out in part: of a batch the first `kept` rows stay, of any other write nothing does. The answer is that of
 * the whole.
 */
export function keepingPart(
  database: Database,
  kept: number,
  request: unknown,
  work: (request: unknown) => unknown,
): unknown {
  let answer: unknown;
  try {
    database.transaction(() => {
      throw new TakenBack(work(request));
    });
  } catch (error) {
    if (!(error instanceof TakenBack)) throw error;
    ({ answer } = error);
  }
  if (isBatch(request) && kept > 0) database.transaction(() => work({ ...request, rows: request.rows.slice(0, kept) }));
  return answer;
}

const isBatch = (request: unknown): request is Json & { rows: unknown[] } =>
  isObject(request) && Array.isArray(request["rows"]);
