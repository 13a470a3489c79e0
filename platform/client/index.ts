/**
 * The typed client of the platform: `createClient({endpoint, email, password})` has one method for each endpoint.
 * Failures are an `ApiError` with a `code` of a closed set.
 * @module
 */
export { batches, type BatchOptions } from "./lists.ts";
export { CallCounter } from "./http/call.ts";
export { createClient } from "./client.ts";
export type { CallOptions, CallRecord, Calls } from "./http/call.ts";
export { Limiter, type LimiterOptions } from "./http/limiter.ts";
export { pages, type PagesOptions } from "./lists.ts";
export type { SenderTimeouts } from "./http/sender.ts";
export type { Client, ClientOptions, ClientTimeouts } from "./options.ts";
export { inParallel } from "./lists.ts";
export type { RetryOptions } from "./http/retries.ts";
export type { AnswerOf, EndpointName, RequestOf, WireNames } from "../contract/endpoints.ts";
export { ApiError, isOutcomeUnknown, type Dependant, type ErrorCode, type CallEffect } from "../contract/wire.ts";
export type { Row, RowData } from "../contract/values.ts";
