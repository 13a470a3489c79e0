import { ApiError } from "../../platform/contract/errors.ts";
import { PartialFailure, type InputProblem } from "../resources/model/resource.ts";
import type { Properties } from "./properties.ts";

/** A call that failed, in one sentence without secrets. `partial` is what exists all the same. */
export class Failure extends Error {
  readonly partial: { id: string; outputs: Properties } | undefined;
  /** True when the platform refused the credentials. */
  readonly refused: boolean;
  constructor(message: string, partial?: { id: string; outputs: Properties }, refused = false) {
    super(message);
    this.partial = partial;
    this.refused = refused;
  }
}

/**
 * The failure that an engine gets for an error.
 * @param message its text, without secrets
 * @param bound adds to the outputs of what exists in part the platform that it is on; undefined where that is not known
 */
export function failureOf(
  error: unknown,
  message: string,
  bound: ((outputs: Properties) => Properties) | undefined,
): Failure {
  if (error instanceof PartialFailure && bound && isSendable(error.outputs)) {
    return new Failure(message, { id: error.id, outputs: bound(error.outputs) });
  }
  return new Failure(message, undefined, error instanceof ApiError && error.code === "unauthorized");
}

/**
 * True when an error can carry a state to any engine: HTTP/2 on Node drops the connection at 64 KB, with all that other
 * resources are about to answer. A state that is not sent is not lost: the next run finds it on the platform.
 */
const isSendable = (state: Properties): boolean => Buffer.byteLength(JSON.stringify(state)) <= 50_000;

/** The message of an error for people. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // A pause that ended early: Node's own words tell nobody what to do.
  return error.name === "AbortError" ? "cancelled before it was done. Run it again to go on." : error.message;
}

/** A problem as a sentence. No property goes with it to an engine, which would print the value: a secret, or a thousand rows. */
export const sentenceOf = ({ property, reason }: InputProblem): string =>
  property === "" ? reason : `${property}: ${reason}`;
