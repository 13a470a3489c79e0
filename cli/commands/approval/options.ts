/** Flags of approve. */
export interface ApproveOptions {
  cwd?: string;
  output?: string;
  validFor: string;
  /** Digests of seals that people have seen. */
  expect?: string[];
  /** True where people have read the code that changes. */
  codeReviewed?: boolean;
  base?: string;
  file?: string;
  state?: string;
  /** The environment, if no report names it. */
  stack?: string;
}
