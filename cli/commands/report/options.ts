import type { Format } from "../../changes/rendering/formats.ts";

/** Flags of report and drift. */
export interface ReportOptions {
  cwd?: string;
  /** As they were given, or their names; none for all environments. */
  stacks: string[];
  file?: string;
  format: Format;
  output?: string;
  expectNoChanges?: boolean;
}

/** Flags of drift. */
export interface DriftOptions {
  state?: string;
  tolerate?: boolean;
  because?: string;
  until?: string;
}
