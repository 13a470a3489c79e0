import type { z } from "zod";
import type { ErrorCode } from "./errors.ts";
import { isObject } from "./wire.ts";

/**
 * What a call does to the platform, since nearly every endpoint is a POST: `read` changes nothing, `idempotent` may be
 * repeated with the same end, `create` makes something new each time it is carried out.
 */
export type Effect = "read" | "idempotent" | "create";

/** `token`: X-Auth-Token and X-User-Id. `token+key`: x-api-key as well. */
export type Auth = "none" | "token" | "token+key";

/** A request as a server receives it. Header names are in lower case. */
export interface Received {
  headers: Readonly<Record<string, string | undefined>>;
  query: Readonly<Record<string, string>>;
  body: unknown;
}

/** One endpoint of the platform: client method, emulator route, validation and reference page are functions of it. */
export interface Endpoint<Request extends z.ZodType = z.ZodType, Answer extends z.ZodType = z.ZodType> {
  summary: string;
  method: "GET" | "POST";
  path: `/api/${string}`;
  auth: Auth;
  effect: Effect;
  /** The documented form of the request, which the client sends: body of a POST, query of a GET. */
  request: Request;
  /** Brings every other form that is in use to the documented one, before `request` validates it. */
  accept: (received: Received) => unknown;
  /** The answer without its envelope. Its input form is what the emulator's handler returns. */
  answer: Answer;
  /** Puts an answer into the envelope, such that readers of any known form find it. */
  wrap: (answer: z.input<Answer>) => unknown;
  /** Takes an answer out of any known envelope, before `answer` validates it. */
  unwrap: (wire: unknown) => unknown;
  /** The platform's words when it refused, where `refusalIn` would take the answer itself for a refusal. */
  refusal?: (wire: unknown) => string | undefined;
  /** How it can fail, apart from what can happen to any call. */
  errors: readonly ErrorCode[];
}

/** Parameters of any request: those of the query and those of the body; the body's count more. */
export function parameters(received: Received): Record<string, unknown> {
  // `null` for an absent parameter is sent by clients in the field: it counts as absent at the top level.
  const present = isObject(received.body) ? Object.entries(received.body).filter(([, value]) => value !== null) : [];
  return { ...received.query, ...Object.fromEntries(present) };
}

type Declaration<Request extends z.ZodType, Answer extends z.ZodType> = Omit<
  Endpoint<Request, Answer>,
  "method" | "accept"
> &
  Partial<Pick<Endpoint<Request, Answer>, "method" | "accept">>;

/** Declares an endpoint; POST with parameters in the body by default. */
export function endpoint<Request extends z.ZodType, Answer extends z.ZodType>(
  declaration: Declaration<Request, Answer>,
): Endpoint<Request, Answer> {
  return { method: "POST", accept: parameters, ...declaration };
}
