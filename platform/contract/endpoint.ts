import type { z } from "zod";
import { wrapRead, wrapWritten } from "./envelopes.ts";
import { type ErrorCode, isObject } from "./wire.ts";

/**
 * The effect of a call on the platform; the method does not show it, since nearly every endpoint is a POST. `read`
 * changes nothing, `idempotent` may be repeated with the same result, `create` makes something new each time.
 */
export type Effect = "read" | "idempotent" | "create";

/** Headers that authenticate a call. `token`: X-Auth-Token and X-User-Id. `token+key`: x-api-key as well. */
export type Auth = "none" | "token" | "token+key";

/** A request as a server receives it, with header names in lower case. */
export interface Received {
  headers: Readonly<Record<string, string | undefined>>;
  query: Readonly<Record<string, string>>;
  body: unknown;
}

/** One endpoint of the platform. Client method, emulator route, validation and reference page derive from it. */
export interface Endpoint<Request extends z.ZodType = z.ZodType, Answer extends z.ZodType = z.ZodType> {
  summary: string;
  method: "GET" | "POST";
  path: `/api/${string}`;
  auth: Auth;
  effect: Effect;
  /** The documented form of the request, which the client sends: body of a POST, query of a GET. */
  request: Request;
  /** Converts any form that is in use to the documented one, before `request` validates it. */
  accept: (received: Received) => unknown;
  /** Schema of the answer without its envelope. The emulator's handler returns its input form. */
  answer: Answer;
  /** Puts an answer into its envelope, so that readers of any known form find it. */
  wrap: (answer: z.input<Answer>) => unknown;
  /** Takes an answer out of any known envelope, before `answer` validates it. */
  unwrap: (wire: unknown) => unknown;
  /** Where words about the call stand, of a refusal among others (default: in the answer and under `body`). */
  wordsAt?: readonly string[];
  /** The answer that a refusal as not found stands for, as some platforms answer what others refuse (default: none). */
  unknown?: z.output<Answer>;
  /** Codes of the failures that are particular to this endpoint; any call can also fail otherwise. */
  errors: readonly ErrorCode[];
}

/** Merges the parameters of query and body; those of the body win. */
export function parameters(received: Received): Record<string, unknown> {
  // `null` for an absent parameter is sent by clients in the field: it counts as absent at the top level.
  const present = isObject(received.body) ? Object.entries(received.body).filter(([, value]) => value !== null) : [];
  return { ...received.query, ...Object.fromEntries(present) };
}

type Usual = "method" | "auth" | "accept" | "wrap";
type Declaration<Request extends z.ZodType, Answer extends z.ZodType> = Omit<Endpoint<Request, Answer>, Usual> &
  Partial<Pick<Endpoint<Request, Answer>, Usual>>;

/** Declares an endpoint; by default a POST with a token, with parameters in the body, and with the envelope of its effect. */
export function endpoint<Request extends z.ZodType, Answer extends z.ZodType>(
  declaration: Declaration<Request, Answer>,
): Endpoint<Request, Answer> {
  const wrap = declaration.effect === "read" ? wrapRead : wrapWritten;
  return { method: "POST", auth: "token", accept: parameters, wrap, ...declaration };
}
