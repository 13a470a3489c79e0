import type { AnswerOf, EndpointName, RequestOf } from "../../contract/endpoints.ts";
import type { ErrorCode } from "../../contract/errors.ts";

/** One request that went out, as `onCall` gets it; a call that is repeated gives one for each attempt. */
export interface CallRecord {
  endpoint: EndpointName;
  /** 1 for the first time. */
  attempt: number;
  /** HTTP status, undefined when no answer came. */
  status: number | undefined;
  /** How it failed, undefined when it went well. */
  code: ErrorCode | undefined;
  milliseconds: number;
}

/** Options of a single call. */
export interface CallOptions {
  /** Ends the call as `cancelled`; a creation that is on its way ends as `outcomeUnknown`. */
  signal?: AbortSignal | undefined;
  /** Milliseconds for the whole call with its repetitions, from the moment it is first sent. */
  timeout?: number | undefined;
  /** Called after each request of this call. */
  onCall?: ((call: CallRecord) => void) | undefined;
  /** Called and awaited with the text of the answer before it is parsed, which takes a while when it is large. */
  glance?: ((text: string) => Promise<void>) | undefined;
}

/** Those methods of a client that somebody needs. */
export type Calls<Name extends EndpointName> = {
  [Each in Name]: (request: RequestOf<Each>, options?: CallOptions) => Promise<AnswerOf<Each>>;
};
