/** A failure that the user reads as one sentence, never with a stack trace. */
export class EngineError extends Error {
  override readonly name: string = "EngineError";
  /** The exit status of the command; default: 1. */
  readonly status: number;
  constructor(message: string, status: number = exitStatuses.failed) {
    super(message);
    this.status = status;
  }
}

/** The exit statuses of Pulumi, which scripts rely on. */
export const exitStatuses = {
  failed: 1,
  wronglyCalled: 2,
  noSuchStack: 6,
  unexpectedChanges: 7,
  cancelled: 8,
} as const;

/** Something that this engine does not do. The message names what to use instead. */
export class Refusal extends EngineError {
  override readonly name = "Refusal";
}

/** A failure that a diagnostic has reported already: whoever catches it only has to stop. */
export class ReportedError extends EngineError {
  override readonly name = "ReportedError";
}

export { messageOf } from "../machine/failures.ts";

/** The code of a failed system call, such as ENOENT. */
export function systemCode(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}
