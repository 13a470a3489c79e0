import { find, type Place, type Problem, type Value } from "../layers/document.ts";
import { suggestion } from "./problems.ts";
import type { EnvironmentFile } from "./schema.ts";

/** What the checks of a file share. */
export interface Check {
  root: Value;
  folder: string;
  report: (problem: Problem) => void;
  /** What of the file is sound. */
  declared: Required<Pick<EnvironmentFile, "organizations" | "seeds" | "apps">>;
}

/** Reports a name that is none of these; `now` is what it became, if it is a former one. */
export function known(
  report: Check["report"],
  kind: string,
  name: string,
  names: string[],
  at: Place,
  now: string | undefined,
): void {
  if (names.includes(name)) return;
  const instead = now === undefined ? suggestion(name, names) : `it is called "${now}" now`;
  report({ at, message: `there is no ${kind} "${name}"; ${instead}` });
}

/** The keys of the map at a path, also of entries that are wrong inside. */
export function namesIn(root: Value, path: readonly string[]): string[] {
  const value = find(root, path)?.value;
  return value?.kind === "map" ? [...value.entries.keys()] : [];
}
