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
