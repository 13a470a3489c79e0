import type { Format } from "../../changes/rendering/formats.ts";

/** Flags of `changes`. */
export interface ChangesOptions {
  cwd?: string;
  format: Format;
  output?: string;
  expectNoChanges?: boolean;
}

/** Flags of `pull`. */
export interface PullOptions {
  cwd?: string;
  stack?: string;
  yes?: boolean;
  json?: boolean;
  into?: string;
  foreign?: boolean;
  dirty?: boolean;
  state?: string;
  nonInteractive?: boolean;
}
