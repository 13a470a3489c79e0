/** Finding of a check. Its first sentence gives the fact, without the consequence. */
export interface Finding {
  /** `noted` is worth knowing; nothing fails because of it. */
  is: "well" | "noted" | "wrong";
  seen: string;
  /** Consequence of the finding. */
  means?: string | undefined;
  /** Commands and settings that mend it, one a line; the first is the likeliest. */
  mend?: readonly string[] | undefined;
  /** True if the platform refuses who calls. */
  isRefusal?: boolean | undefined;
}

export const well = (seen: string): Finding => ({ is: "well", seen });

export const noteFinding = (seen: string, means?: string, mend?: readonly string[]): Finding => ({
  is: "noted",
  seen,
  means,
  mend,
});

export const wrong = (seen: string, means?: string, mend?: readonly string[]): Finding => ({
  is: "wrong",
  seen,
  means,
  mend,
});
