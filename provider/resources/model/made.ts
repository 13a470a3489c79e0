import { ApiError, isOutcomeUnknown } from "../../contract/errors.ts";

/**
 * Things that this stack has made itself, beyond those in states. A thing is named by its resource and ID, such as
 * `Team t1`, and may have several names.
 */
export interface Made {
  /** Notes what is about to be made. */
  begin: (urn: string | undefined, things: readonly string[]) => void;
  /** Notes that the engine receives the result. `isMade` is false after a refusal of the platform. */
  settled: (urn: string | undefined, things: readonly string[], isMade?: boolean) => void;
  /** Notes that a state has things as its own: nothing is open about them. */
  saved: (urn: string | undefined, things: readonly string[]) => void;
  /** Notes that another resource of the stack has what this one made. */
  handed: (urn: string | undefined, things: readonly string[]) => void;
  /** True when this stack made a thing: in this run, in one that was interrupted, or for another resource. */
  isMade: (urn: string | undefined, things: readonly string[]) => boolean;
  /** Notes that things are gone from the platform. */
  removed: (urn: string | undefined, things: readonly string[]) => void;
}

/** The part of a state that shows a thing's owner. */
interface Owned {
  found?: unknown;
  adopt?: boolean | undefined;
  resourceUrn?: string | undefined;
}

/** True when a thing was found, and has not become this stack's own. */
export const isFound = ({ made }: { made: Made }, state: Owned, things: readonly string[]): boolean =>
  state.found !== undefined && !state.adopt && !made.isMade(state.resourceUrn, things);

/** True when a failed call may have been carried out; a call without an error is over. */
export const mayBeMade = (error: unknown): boolean =>
  error !== undefined && (!(error instanceof ApiError) || error.code === "cancelled" || isOutcomeUnknown(error));
