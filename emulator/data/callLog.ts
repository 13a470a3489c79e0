import { createHash } from "node:crypto";
import type { Effect, EndpointName } from "../../platform/contract/endpoints.ts";
import { isObject, type Json } from "../../platform/contract/wire.ts";
import { type Database, DatabaseSync } from "./database.ts";

/** One call that reached the platform. */
export interface LoggedCall {
  /** Number of the call; grows by one with each call. */
  sequence: number;
  /** When it was logged, in milliseconds since the epoch. */
  time: number;
  endpoint: EndpointName;
  effect: Effect;
  /** True if the endpoint changes the platform: all do but reads, `login` and `logout`. */
  mutating: boolean;
  /** ID of the caller, null without a session. */
  userID: string | null;
  /** HTTP status of the answer. */
  status: number;
  /** The platform's message when it refused the call, else null. */
  failure: string | null;
  /** Parameters without secrets. A large request has lengths instead of lists, and a digest of the whole. */
  request: Json;
  /** Names of the faults that hit the call, null without any. */
  fault: string | null;
  /** Identifies the token of the call without revealing it; null without a token. */
  session: string | null;
  /** Milliseconds from the call's arrival to its log entry. */
  duration: number;
  /** Probable mistake of the caller, though the call was answered; null without one. */
  remark: string | null;
  /** Headers of the request that say something of its caller, without secrets. */
  headers: Readonly<Record<string, string>> | null;
  /** Body of the answer without secrets, with the lengths of long lists in their place; null where none was made. */
  answer: unknown;
}

/** A call as the log takes it, beside its texts. */
export type NewCall = Omit<LoggedCall, "sequence" | "request" | "mutating" | "headers" | "answer">;

/** Texts of a call, written by `requestText`, `headersText` and `answerText`. */
export interface CallTexts {
  request: string;
  headers?: string | null;
  answer?: string | null;
}

/** Which calls to read; all without any filter. */
export interface CallFilter {
  /** Only calls after this sequence number. */
  since?: number;
  /** true: only calls that change the platform. false: only those that do not. */
  mutating?: boolean;
  /** Only calls of this endpoint. */
  endpoint?: EndpointName;
  /** At most this many: the first ones after `since`, or the last of all without it. Default: all that are kept. */
  limit?: number;
}

/** Calls that the log keeps; the oldest go first, a thousand at a time. */
export const maxCalls = 100_000;

export const isMutating = (endpoint: EndpointName, effect: Effect): boolean =>
  effect !== "read" && endpoint !== "login" && endpoint !== "logout";

/** Columns of an entry beside its number, by the names that a call has. */
const columns = [
  ...["time", "endpoint", "effect", "mutating", "user_id AS userID", "status", "failure", "request", "fault"],
  ...["session", "duration", "remark", "headers", "answer"],
];
const insert = `INSERT INTO calls (${columns.map((column) => column.replace(/ AS.*/, "")).join(", ")})
  VALUES (${columns.map(() => "?").join(", ")})`;

export function logCall(
  database: Database,
  call: NewCall,
  { request, headers = null, answer = null }: CallTexts,
): void {
  const { time, endpoint, effect, userID, status, failure, fault, session, duration, remark } = call;
  database.run(
    insert,
    ...[time, endpoint, effect, isMutating(endpoint, effect) ? 1 : 0, userID, status, failure, request, fault],
    ...[session, duration, remark, headers, answer],
  );
  const last = lastSequence(database);
  if (last > maxCalls && last % 1000 === 0) database.run("DELETE FROM calls WHERE sequence <= ?", last - maxCalls);
}

export const lastSequence = (database: Database): number =>
  database.one<{ last: number | null }>("SELECT max(sequence) AS last FROM calls")?.last ?? 0;

interface Kept extends Omit<LoggedCall, "mutating" | "request" | "headers" | "answer"> {
  mutating: number;
  request: string;
  headers: string | null;
  answer: string | null;
}

const callOf = ({ mutating, request, headers, answer, ...call }: Kept): LoggedCall => ({
  ...call,
  mutating: mutating === 1,
  request: JSON.parse(request) as Json,
  headers: JSON.parse(headers ?? "null") as LoggedCall["headers"], // headersText wrote it
  answer: JSON.parse(answer ?? "null"),
});

export function listCalls(database: Pick<Database, "all">, filter: CallFilter = {}): LoggedCall[] {
  const { since = 0, mutating, endpoint, limit = -1 } = filter;
  const newest = limit >= 0 && since === 0;
  const kept = database.all<Kept>(
    `SELECT sequence, ${columns.join(", ")} FROM calls
     WHERE sequence > ? AND mutating = coalesce(?, mutating) AND endpoint = coalesce(?, endpoint)
     ORDER BY sequence ${newest ? "DESC" : ""} LIMIT ?`,
    ...[since, mutating === undefined ? null : Number(mutating), endpoint ?? null, limit],
  );
  return (newest ? kept.reverse() : kept).map(callOf);
}

/** Reads the calls of a data file, oldest first, also while an emulator has it open. */
export function readCalls(file: string, filter: CallFilter = {}): LoggedCall[] {
  const connection = new DatabaseSync(file, { readOnly: true, timeout: 10_000 });
  try {
    const all = <Row>(sql: string, ...values: never[]) => connection.prepare(sql).all(...values) as Row[];
    return listCalls({ all }, filter);
  } finally {
    connection.close();
  }
}

const secret = /^(password|authToken|token|apiKey|x-api-key|x-auth-token|authorization|cookie)$/i;
const maxWholeBytes = 2000;
const maxWholeItems = 20;

/** Writes the parameters of a request for the call log, without secrets; shortens those of a body above 2,000 bytes. */
export function requestText(parameters: unknown, body: Buffer): string {
  if (!isObject(parameters)) return "{}";
  const shown: Json = {};
  for (const [key, value] of Object.entries(parameters)) shown[key] = secret.test(key) ? "***" : value;
  if (body.length <= maxWholeBytes) return JSON.stringify(shown);
  for (const [key, value] of Object.entries(shown)) {
    if (Array.isArray(value)) shown[key] = `(${value.length} items)`;
    else if (typeof value === "object" && value !== null) shown[key] = "(object)";
    else if (typeof value === "string" && value.length > 200) shown[key] = `${value.slice(0, 200)}…`;
  }
  return JSON.stringify({ ...shown, bytes: body.length, sha256: createHash("sha256").update(body).digest("hex") });
}

/** Headers that each HTTP library sets by itself, and that say nothing of the caller: most of what a request has. */
const ofTransport =
  /^(accept|accept-encoding|accept-language|connection|content-length|host|sec-fetch-\w+|transfer-encoding)$/;

/** Writes the headers of a request that say something of its caller; those with secrets are there by name alone. */
export const headersText = (headers: Readonly<Record<string, string | undefined>>): string =>
  JSON.stringify(headers, (name, value: unknown) =>
    ofTransport.test(name) ? undefined : secret.test(name) ? "***" : value,
  );

/** Writes an answer for the call log: without secrets, and with its length instead of a list above 20 items. */
export function answerText(answer: unknown): string {
  const text = JSON.stringify(answer ?? null, (key, value: unknown) => {
    if (secret.test(key)) return "***";
    if (Array.isArray(value) && value.length > maxWholeItems) return `(${value.length} items)`;
    return typeof value === "string" && value.length > 200 ? `${value.slice(0, 200)}…` : value;
  });
  return text.length <= 4 * maxWholeBytes ? text : JSON.stringify({ bytes: Buffer.byteLength(text) });
}
