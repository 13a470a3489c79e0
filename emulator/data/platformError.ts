import type { EndpointName } from "../../platform/contract/endpoints.ts";
import { errorCodes, type Dependant, type ErrorCode } from "../../platform/contract/wire.ts";

/** Codes that can be answered over the wire. */
export type WireCode = {
  [Code in ErrorCode]: (typeof errorCodes)[Code]["status"] extends number ? Code : never;
}[ErrorCode];

/** The one error that handlers throw; the contract's table gives it an HTTP status. */
export class PlatformError extends Error {
  readonly code: WireCode;
  readonly dependants: readonly Dependant[];
  /** Seconds after which the caller may try again. */
  readonly retryAfter: number | undefined;

  constructor(
    code: WireCode,
    message: string,
    details: { dependants?: readonly Dependant[]; retryAfter?: number } = {},
  ) {
    super(message);
    this.name = "PlatformError";
    this.code = code;
    this.dependants = details.dependants ?? [];
    this.retryAfter = details.retryAfter;
  }

  get status(): number {
    return errorCodes[this.code].status;
  }
}

export const notFound = (what: string, id: string): PlatformError =>
  new PlatformError("notFound", `${what} not found: ${id}`);
/** Refusal for a user named by address; the words are documented for sendnotification. */
export const userNotFoundFor = (email: string): PlatformError =>
  new PlatformError("notFound", `User not found for ${email}`);
export const forbidden = (message: string): PlatformError => new PlatformError("forbidden", message);
export const invalid = (message: string): PlatformError => new PlatformError("invalidRequest", message);

/** The body of a failure. Those of sendnotification and userid are documented, the others are assumed. */
export function failureBody(failure: PlatformError, endpoint: EndpointName | undefined): unknown {
  const { code, message, dependants } = failure;
  if (endpoint === "sendnotification") {
    return code === "forbidden" ? { error: "Forbidden", message } : { error: message };
  }
  if (endpoint === "userid" && code !== "unauthorized") return { body: { status: "failure", message } };
  if (code === "unauthorized") return { status: "error", message };
  return { status: "failure", message, ...(dependants.length > 0 ? { dependants } : {}) };
}
