/** Flags of promote. */
export interface PromoteOptions {
  cwd?: string;
  only?: string[];
  ours?: string[];
  theirs?: string[];
  conflicts: "cell" | "row";
  write?: boolean;
  dirty?: boolean;
  json?: boolean;
}
