import { printableLine } from "../messages/text.ts";
/** A JSON object. */
export type Json = Record<string, unknown>;

/** True for a JSON object, neither null nor a list. */
export const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A member of a map that people name, who may call it `constructor`. */
export const entryIn = <Value>(map: Readonly<Record<string, Value>> | undefined, name: string): Value | undefined =>
  map && Object.hasOwn(map, name) ? map[name] : undefined;

/** Path of a key that objects of JavaScript lose: what is declared there would be seen by nobody. */
export function lostKey(content: unknown): string[] | undefined {
  if (typeof content !== "object" || content === null) return undefined;
  for (const [key, value] of Object.entries(content)) {
    const below = key === "__proto__" ? [] : lostKey(value);
    if (below) return [key, ...below];
  }
  return undefined;
}

/** Parses JSON; undefined for a text that isn't JSON. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Levels of an answer: as deep as anything that looks into it goes. How much may stand in it is bounded by its bytes. */
export const maxAnswerLevels = 100;

/** The JSON of a platform's answer; undefined when it is none, or too deep. */
export function answerIn(text: string): unknown {
  const answer = jsonIn(text);
  return isDeeper(answer, maxAnswerLevels) ? undefined : answer;
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  for (const inner of Array.isArray(value) ? value : Object.values(value)) if (isDeeper(inner, levels - 1)) return true;
  return false;
}

/** The texts in a value, at whatever depth. */
export function* textsIn(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  else if (Array.isArray(value)) for (const item of value) yield* textsIn(item);
  else if (isObject(value)) for (const inner of Object.values(value)) yield* textsIn(inner);
}

/** Reads the value at a dotted path; undefined when there is none. The path `""` is the whole value. */
export function at(wire: unknown, path: string): unknown {
  if (path === "") return wire;
  let value = wire;
  for (const step of path.split(".")) {
    if (!isObject(value) || !Object.hasOwn(value, step)) return undefined;
    value = value[step];
  }
  return value;
}

/** Reads the value at the first of these paths that has one. */
export function firstOf(wire: unknown, ...paths: string[]): unknown {
  for (const path of paths) {
    const value = at(wire, path);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** Makes a list of one value or of a list; undefined for no value. */
export const listOf = (value: unknown): unknown =>
  value === undefined || value === null ? undefined : Array.isArray(value) ? value : [value];

const failureWords = new Set(["failure", "error"]);

/**
 * The platform's message when it refused a call, undefined when it did not: `{status: "failure" | "error", message}` or
 * `{error, message?}`, each of them also under `body`, with any HTTP status.
 * @param parts where its words about the call stand
 */
export function refusalIn(wire: unknown, parts: readonly string[] = ["", "body"]): string | undefined {
  for (const path of parts) {
    const part = at(wire, path);
    if (!isObject(part)) continue;
    const { status, error, message, ok } = part;
    const text = [error, message].filter((each) => typeof each === "string" && each !== "").join(": ");
    const isFailure = typeof status === "string" && failureWords.has(status.toLowerCase());
    if (isFailure) return text || `status ${status}`;
    if ((typeof error === "string" && error !== "") || ok === false) return text || "not ok";
  }
  return undefined;
}

/** True for an answer that says something about the call which is neither the documented success nor a refusal. */
export function isStrange(wire: unknown): boolean {
  if (!isObject(wire)) return false;
  const { status = "success", error, errors, success } = wire;
  return status !== "success" || (error ?? errors ?? null) !== null || success === false;
}

/** True for a text that a header can hold (RFC 9110): no line break, no control character, nothing beyond Latin-1. */
export const isHeaderValue = (value: string): boolean => /^[\t\x20-\x7e\x80-\xff]*$/.test(value);

/** Why an option can't be sent; its value is a secret and is not repeated. */
export const noHeaderValue =
  "holds a line break or another character that no header can have: set it again, without what surrounds it";

const MB = 2 ** 20;

/** Reads the text of a body; undefined, without reading on, when it is larger than `megabytes`. */
export async function textOf(body: AsyncIterable<Uint8Array>, megabytes: number): Promise<string | undefined> {
  const decoder = new TextDecoder();
  const parts: string[] = [];
  let size = 0;
  for await (const part of body) {
    size += part.byteLength;
    if (size > megabytes * MB) return undefined; // which ends the connection
    parts.push(decoder.decode(part, { stream: true }));
  }
  parts.push(decoder.decode());
  return parts.join("");
}

/**
 * Every way in which a call can fail, by code. `status` is its HTTP status, undefined for failures without an answer;
 * `hint` is the advice of its message. The statuses are assumed: it is only documented that a failure may come with
 * HTTP 200.
 */
export const errorCodes = {
  invalidRequest: { status: 400, hint: "Correct the named field and try again." },
  unauthorized: { status: 401, hint: "Check the e-mail address and password, or the token and user ID." },
  forbidden: { status: 403, hint: "Use an account that is an administrator of the organization, team or app." },
  notFound: { status: 404, hint: "Check the ID; it may have been deleted on the platform." },
  conflict: { status: 409, hint: "Choose another name, or remove what is in the way." },
  tooLarge: { status: 413, hint: "Send less in one request." },
  rateLimited: { status: 429, hint: "Wait a moment and try again." },
  serverError: { status: 500, hint: "Try again later; if it persists, tell the platform's operator." },
  notImplemented: { status: 501, hint: "This server does not offer the endpoint." },
  unavailable: { status: 503, hint: "Try again later." },
  rejected: { status: 200, hint: "Read the platform's message; nothing was retried." },
  unreachable: { status: undefined, hint: "Check the endpoint's address and that the platform is running." },
  timeout: { status: undefined, hint: "Try again, or allow more time." },
  connectionLost: { status: undefined, hint: "Try again." },
  badAnswer: { status: undefined, hint: "Check that the endpoint is the platform's address and not another server's." },
  outcomeUnknown: { status: undefined, hint: "Look on the platform whether it was done before trying again." },
  readOnly: { status: undefined, hint: "Remove `readOnly` from the configuration to allow changes." },
  notAllowed: { status: undefined, hint: "Add the platform's origin to the allowed ones, or correct the endpoint." },
  cancelled: { status: undefined, hint: "Run it again to go on." },
} as const satisfies Record<string, { status: number | undefined; hint: string }>;

/** Code of a failure; the set is closed. */
export type ErrorCode = keyof typeof errorCodes;

/**
 * The possible effect of a failed call: `none` when it certainly changed nothing, `unknown` otherwise. A read always
 * ends with `none`.
 */
export type CallEffect = "none" | "unknown";

/** Values that make an ApiError. */
export interface FailureDetails {
  code: ErrorCode;
  /** Name of the endpoint as the contract has it, e.g. `insertteam`. */
  endpoint: string;
  /** HTTP status of the answer, where there was one. */
  status?: number;
  /** Message of the platform or the transport. */
  message: string;
  /** Advice what to do next (default: the hint of the code). */
  hint?: string;
  /** Things that prevent a delete, where the platform names them (assumed; default: none). */
  dependants?: readonly Dependant[];
  /** Default: `none`. */
  outcome?: CallEffect;
  /** True where the same call would end so again (default: false). */
  lasting?: boolean;
}

/** Something that prevents the deletion of another thing. */
export interface Dependant {
  /** ID on the platform. */
  id: string;
  /** Name or e-mail address to show. */
  name: string;
}

/** Reads the dependants that a refusal names (assumed form: `dependants: [{id, name}]`); else an empty list. */
export function dependantsIn(wire: unknown): Dependant[] {
  const found = firstOf(wire, "dependants", "body.dependants");
  return (Array.isArray(found) ? (found as unknown[]) : []).flatMap((one) => {
    if (!isObject(one)) return [];
    const id = one["id"] ?? one["_id"];
    const { name = id } = one;
    return typeof id === "string" && typeof name === "string" ? [{ id, name }] : [];
  });
}

/** The error of every failed call. Programs test its `code`; `message` is for people and ends with the hint. */
export class ApiError extends Error {
  /** Reason of the failure, for programs. */
  readonly code: ErrorCode;
  /** Name of the endpoint as the contract has it, e.g. `insertteam`. */
  readonly endpoint: string;
  /** HTTP status; undefined when no answer came. */
  readonly status: number | undefined;
  /** Advice what to do next. */
  readonly hint: string;
  /** Things that prevent a delete; empty where the platform names none. */
  readonly dependants: readonly Dependant[];
  /** `unknown` when the call may have been carried out despite the error. */
  readonly outcome: CallEffect;
  /** Message of the platform or the transport, without endpoint and hint. */
  readonly platformMessage: string;
  /** True where the same call would end so again. */
  readonly lasting: boolean;

  constructor(failure: FailureDetails) {
    const hint = failure.hint ?? errorCodes[failure.code].hint;
    super(`${failure.endpoint}: ${ended(printableLine(failure.message))} ${hint}`);
    this.name = "ApiError";
    this.code = failure.code;
    this.endpoint = failure.endpoint;
    this.status = failure.status;
    this.hint = hint;
    this.dependants = failure.dependants ?? [];
    this.outcome = failure.outcome ?? "none";
    this.platformMessage = failure.message;
    this.lasting = failure.lasting ?? false;
  }
}

/** True where the hint is about the platform, such as another form of a request, and not that of every such failure. */
export const isAdvised = ({ code, hint }: ApiError): boolean => hint !== errorCodes[code].hint;

/** True for the platform's "not found". */
export const isNotFound = (error: unknown): error is ApiError => error instanceof ApiError && error.code === "notFound";

/** Waits for a call; resolves to undefined when it fails with `notFound`. */
export async function orUndefinedIfNotFound<Answer>(call: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await call;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** True when the platform has read the request and refused its content. */
export const isRefusal = (error: unknown): error is ApiError =>
  error instanceof ApiError && ["invalidRequest", "rejected", "tooLarge"].includes(error.code);

/** True when something that the platform has at the moment is in the way. */
export const isConflict = (error: unknown): error is ApiError => error instanceof ApiError && error.code === "conflict";

/** True when the failed call may have been carried out nevertheless. Before a login that failed, nothing was sent. */
export const isOutcomeUnknown = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.outcome === "unknown" && error.endpoint !== "login";

/**
 * True when an answer came in a form that is not known: the call may have been carried out, and whoever made it sends
 * nothing more. What was made is found by the next run.
 */
export const isUndocumented = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.code === "badAnswer" && error.outcome === "unknown" && error.lasting;

function ended(sentence: string): string {
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}

// The words are assumed: the platform documents no error bodies except those of sendnotification. The order matters.
const wordsOfCodes: [RegExp, ErrorCode][] = [
  [/\btoo[- ]many[- ]requests\b/i, "rateLimited"],
  [/not found|no such|does not exist|unknown (id|row|team|organi[sz]ation|user|table)/i, "notFound"],
  [/already (exists|in use|taken)|duplicate|must be unique|still has/i, "conflict"],
  [/forbidden|not allowed|not permitted|permission|only .* can /i, "forbidden"],
  [/log(ged)? ?in|token|unauthori[sz]ed|password/i, "unauthorized"],
  [/is required|must be|invalid/i, "invalidRequest"],
];

/** The messages of platforms that answer an ended session with another status than 401. */
const endedSession =
  /\b(must be|not|please) log(ged)? ?in\b|\blog ?in again\b|\b(token|session)\b.*\b(expired|invalid)\b|\binvalid (auth )?token\b/i;

/**
 * The code of a refused call: that of its HTTP status where a code has this status, otherwise by the words of the
 * platform's message.
 */
export function codeOf(status: number, message: string): ErrorCode {
  if ([400, 403].includes(status) && endedSession.test(message)) return "unauthorized";
  for (const [code, facts] of Object.entries(errorCodes)) {
    if (facts.status === status && status !== 200) return code as ErrorCode; // keys of a const object
  }
  if (status === 502 || status === 504) return "unavailable";
  if (status >= 500) return "serverError";
  for (const [words, code] of wordsOfCodes) if (words.test(message)) return code;
  return status >= 400 ? "invalidRequest" : "rejected";
}
