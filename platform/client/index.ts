/**
 * The typed client of the platform: `createClient({endpoint, email, password})` has one method for each endpoint.
 * Failures are an `ApiError` with a `code` of a closed set.
 * @module
 */
export { batches, type BatchOptions } from "./lists/batches.ts";
export { CallCounter } from "./calls.ts";
export { createClient } from "./client.ts";
export type { CallOptions, CallRecord, Calls } from "./http/call.ts";
export { Limiter, type LimiterOptions } from "./http/limiter.ts";
export { pages, type PagesOptions } from "./lists/pages.ts";
export type { SenderTimeouts } from "./http/sender.ts";
export type { Client, ClientOptions, ClientTimeouts } from "./options.ts";
export { inParallel } from "./parallel.ts";
export type { RetryOptions } from "./http/retries.ts";
export type { AnswerOf, EndpointName, RequestOf, WireNames } from "../contract/endpoints.ts";
export { ApiError, isOutcomeUnknown, type Dependant, type ErrorCode, type CallEffect } from "../contract/errors.ts";
export type { Row, RowData } from "../contract/values.ts";
