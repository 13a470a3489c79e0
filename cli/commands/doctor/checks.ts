import type { CheckContext } from "./context.ts";
import type { Finding } from "./findings.ts";

/** One thing to look at. */
export interface Check {
  id: string;
  /** Title for people. */
  title: string;
  /** IDs of the checks that it presumes. */
  needs: readonly string[];
  /** Looks at it. Throws nothing that is not a mistake of ours. */
  look: (context: CheckContext) => Promise<Finding> | Finding;
}

/** Result of a check; `because` names the failed check that prevented it. */
export type Result = Pick<Check, "id" | "title"> & (Finding | { is: "skipped"; because: string });

/** Makes the checks one after the other; what needs one that failed is not looked at. */
export async function examine(
  checks: readonly Check[],
  context: CheckContext,
  begin: (title: string) => void = () => undefined,
): Promise<Result[]> {
  const failed = new Map<string, string>();
  const results: Result[] = [];
  for (const { id, title, needs, look } of checks) {
    const because = needs.map((need) => failed.get(need)).find((cause) => cause !== undefined);
    if (because !== undefined) {
      failed.set(id, because);
      results.push({ id, title, is: "skipped", because });
      continue;
    }
    begin(title);
    context.signal.throwIfAborted();
    const finding = await look(context);
    if (finding.is === "wrong") failed.set(id, title);
    results.push({ id, title, ...finding });
  }
  return results;
}

export const isWrong = (result: Result): result is Extract<Result, Finding> => result.is === "wrong";
