import { z } from "zod";
import { ApiError } from "../../contract/errors.ts";

/**
 * What this stack has made itself, beyond what states say. A thing is called by its resource and ID, such as
 * `Team t1`, and may have several names.
 */
export interface Made {
  /** Notes what is about to be made. */
  begin: (urn: string | undefined, things: readonly string[]) => void;
  /** Notes that the engine is told what became of it. `isMade` is false where the platform refused it. */
  settled: (urn: string | undefined, things: readonly string[], isMade?: boolean) => void;
  /** Notes that a state has things as its own: nothing is open about them. */
  saved: (urn: string | undefined, things: readonly string[]) => void;
  /** Notes that another resource of the stack has what this one made. */
  handed: (urn: string | undefined, things: readonly string[]) => void;
  /** Whether this stack made a thing: in this run, in one that was interrupted, or for another resource. */
  isMade: (urn: string | undefined, things: readonly string[]) => boolean;
  /** Notes that things are gone from the platform. */
  removed: (urn: string | undefined, things: readonly string[]) => void;
}

/** The output of a thing that was there as declared before this stack first met it. */
export const found = z.boolean().optional().meta({
  description: "Whether it was there as declared when this stack first met it: it stays when its declaration goes.",
});

/** A state, as far as it tells whose a thing is. */
interface Owned {
  found?: unknown;
  adopt?: boolean | undefined;
  resourceUrn?: string | undefined;
}

/** Whether a thing was found, and has not become this stack's own. */
export const isFound = ({ made }: { made: Made }, state: Owned, things: readonly string[]): boolean =>
  state.found !== undefined && !state.adopt && !made.isMade(state.resourceUrn, things);

/** Whether a call that failed may have been carried out; one that did not fail is over. */
export const mayBeMade = (error: unknown): boolean =>
  error !== undefined && (!(error instanceof ApiError) || error.outcome === "unknown" || error.code === "cancelled");
