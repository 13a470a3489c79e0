import type { Effect } from "../../contract/endpoints.ts";
import type { Dependant, ErrorCode, CallEffect } from "../../contract/wire.ts";
import type { Load } from "./limiter.ts";

/** The failure of one attempt, before it is decided whether there is another. */
export interface Failed {
  code: ErrorCode;
  message: string;
  status?: number;
  /** Milliseconds that the platform asks to wait. */
  retryAfter?: number | undefined;
  /** True when trying again is pointless. */
  lasting?: boolean;
  /** True when the request may have reached the platform (default). */
  sent?: boolean;
  dependants?: readonly Dependant[];
  /** Advice, in place of that of its code. */
  hint?: string;
}

/** How often and how long calls are repeated. Times in milliseconds. */
export interface RetryOptions {
  /** Highest number of attempts of one call (default 8). */
  attempts?: number;
  /** Highest number of attempts while nothing answers at the address (default 4). */
  connects?: number;
  /** Upper bound of the first wait, doubled for each further one (default 250). */
  base?: number;
  /** Upper bound of any wait (default 20,000). */
  max?: number;
  /** Upper bound of a wait that the platform asks for (default 60,000). */
  maxRetryAfter?: number;
}

/** The default bounds: about 16 s of waiting in the middle, 32 s at most. */
export const retryDefaults: Required<RetryOptions> = {
  attempts: 8,
  connects: 4,
  base: 250,
  max: 20_000,
  maxRetryAfter: 60_000,
};

const passing: ReadonlySet<ErrorCode> = new Set([
  "unreachable",
  "timeout",
  "connectionLost",
  "rateLimited",
  "serverError",
  "unavailable",
]);

/** True when the platform certainly did nothing. */
function nothingHappened({ code, retryAfter, status }: Failed): boolean {
  return code === "unreachable" || code === "rateLimited" || (status === 503 && retryAfter !== undefined);
}

/** True when a call may be sent again. A create is repeated only when nothing was certainly created. */
export function repeatable(effect: Effect, failed: Failed): boolean {
  if (failed.lasting || !passing.has(failed.code)) return false;
  return effect !== "create" || nothingHappened(failed);
}

/** Codes that leave open whether the platform has carried the call out. */
const open: ReadonlySet<ErrorCode> = new Set([
  "timeout",
  "connectionLost",
  "serverError",
  "unavailable",
  "badAnswer",
  "cancelled",
]);

/** Returns `unknown` when a call with this failure may have been carried out. */
export function outcomeOf(effect: Effect, failed: Failed): CallEffect {
  const { code, status, sent = true } = failed;
  if (effect === "read" || !sent || nothingHappened(failed)) return "none";
  // An answer 3xx or 4xx means that the call was not carried out.
  if (status !== undefined && status >= 300 && status < 500) return "none";
  return open.has(code) ? "unknown" : "none";
}

/**
 * The code that a call ends with: `outcomeUnknown` for a creation that may have been carried out, unless its answer would
 * come again as it is.
 */
export const endingCode = (effect: Effect, failed: Failed): ErrorCode =>
  effect === "create" && !failed.lasting && outcomeOf(effect, failed) === "unknown" ? "outcomeUnknown" : failed.code;

/** Milliseconds before attempt `attempt + 1`: exponential with full jitter, on top of what the platform asks for. */
export function waitAfter(
  attempt: number,
  { retryAfter }: Failed,
  options: Required<RetryOptions>,
  random: () => number,
): number {
  const jittered = random() * Math.min(options.max, options.base * 2 ** (attempt - 1));
  return retryAfter === undefined ? jittered : Math.min(retryAfter, options.maxRetryAfter) + jittered;
}

/** Milliseconds that a Retry-After header asks for, in seconds or as a date; undefined for anything else. */
export function retryAfterOf(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\s*\d+(\.\d+)?\s*$/.test(header)) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

const overload: ReadonlySet<Failed["code"]> = new Set(["rateLimited", "serverError", "unavailable", "timeout"]);

/** The platform's load, as the end of a call shows it. */
export function loadOf(failed: Failed | undefined): Load {
  if (failed === undefined) return "easy";
  if (overload.has(failed.code)) return "overloaded";
  // A platform that had the time to answer is not overloaded.
  return failed.status === undefined ? "unknown" : "easy";
}
