import type { Format } from "../../report/render.ts";

export const formats: readonly Format[] = ["md", "json", "text"];

/** Flags of report and of drift. */
export interface ReportOptions {
  cwd?: string;
  /** As they were given, or their names; none for all environments. */
  stacks: string[];
  file?: string;
  format: Format;
  output?: string;
}

/** Flags of report alone. */
export interface ReportOnly {
  base?: string;
  from?: string;
  to?: string;
  state?: string;
  outputs?: string;
  dataOnly?: boolean;
  expectNoChanges?: boolean;
  expectPlan?: string;
}

/** Flags of drift. */
export interface DriftOptions {
  state?: string;
  tolerate?: boolean;
  because?: string;
  until?: string;
}
