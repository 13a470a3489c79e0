import type { Path } from "../layers/grammar.ts";

/** Maps whose entries are things with names, `*` for any key, and what each is called in the singular. */
export const namedMaps: readonly { steps: readonly string[]; kind: string }[] = [
  { steps: ["organizations"], kind: "organization" },
  { steps: ["organizations", "*", "teams"], kind: "team" },
  { steps: ["organizations", "*", "teams", "*", "members"], kind: "member" },
  { steps: ["organizations", "*", "teams", "*", "roster", "members"], kind: "member" },
  { steps: ["seeds"], kind: "seed" },
  { steps: ["seeds", "*", "references"], kind: "reference" },
  { steps: ["apps"], kind: "app" },
];

/** Whether a path is one of those that the steps stand for. */
export const leadsTo = (path: Path, steps: readonly string[]): boolean =>
  path.length === steps.length && steps.every((step, at) => step === "*" || step === path[at]);
