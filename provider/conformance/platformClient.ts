import type { Endpoint } from "../contract/endpoint.ts";
import { endpoints, type EndpointName, type WireNames } from "../contract/endpoints.ts";
import { codeOf } from "../contract/errors.ts";
import { answerIn, refusalIn, type Json } from "../contract/wire.ts";
import type { Switches as Habits } from "../habits/deviations.ts";
import type { FixtureIDs, Person } from "./fixtures.ts";
import { formOf, inQuery, onWire, type FormChoice } from "./forms.ts";

/** A request as it goes out. */
export interface OutgoingRequest {
  method: string;
  /** Path below the platform's address, or a whole address, which gets no header of a session. */
  url: string;
  headers: Readonly<Record<string, string>>;
  body?: string | undefined;
}

/** An answer; `text` is the body. Names of headers are in lower case. */
export interface IncomingAnswer {
  status: number;
  headers: Readonly<Record<string, string>>;
  text: string;
}

/** Sends one request. A GET may have a body. Rejects where no answer comes. */
export type Send = (request: OutgoingRequest, signal?: AbortSignal) => Promise<IncomingAnswer>;

/** Headers of a session. */
interface Session {
  authToken?: string | undefined;
  userId?: string | undefined;
  apiKey?: string | undefined;
}

/** One call of an endpoint. */
export interface EndpointCall {
  name: EndpointName;
  request: Json;
  as: Person | "nobody" | Session;
  form?: string | undefined;
  method?: string | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
}

/** Result of a call: an answer without its envelope, a refusal, or something that can't be read. */
export type CallResult = { status: number; body: unknown } & (
  | { kind: "answer"; answer: unknown }
  | { kind: "refused" | "unreadable"; code: string; message: string }
);

const reads = new Set(
  Object.values(endpoints).flatMap(({ path, effect }: Endpoint) => (effect === "read" ? [path as string] : [])),
);

/** True for a path of a call that changes nothing. */
export const isRead = (url: string): boolean => reads.has(url.split("?")[0] ?? "");

/** A way to call a platform. */
export interface PlatformClient {
  call: (call: EndpointCall, signal?: AbortSignal) => Promise<CallResult>;
  /** Fetches an address without a session. */
  fetch: (url: string, signal?: AbortSignal) => Promise<IncomingAnswer>;
  /** Ends the sessions that it began. */
  leave: () => Promise<void>;
}

/**
 * The login of one of the sandbox's people was refused; the message has the platform's words, which may repeat the
 * password.
 */
export class SandboxLoginError extends Error {}

/** Everything a raw connection needs to know of its platform. */
export interface RawPlatform {
  send: Send;
  sandbox: FixtureIDs;
  /** Habits found so far. */
  habits: () => Partial<Habits>;
  /** Which form is sent where a platform takes several (default: the first). */
  spelling?: FormChoice | undefined;
  wireNames?: WireNames | undefined;
}

/** Calls a platform over plain HTTP, in the forms that it takes. People are signed in by their passwords. */
export function createRawClient(platform: RawPlatform): PlatformClient {
  const { send, sandbox } = platform;
  const sessions = new Map<Person, Promise<Session>>();
  const exchange = async (call: EndpointCall, session: Session, signal?: AbortSignal): Promise<CallResult> => {
    const outgoing = written(call, session, platform);
    return outgoing ? read(call.name, await send(outgoing, signal)) : untaken;
  };
  const signIn = async (person: Person): Promise<Session> => {
    const request = { email: sandbox[`${person}.email`], password: sandbox[`${person}.password`] };
    const reply = await exchange({ name: "login", request, as: "nobody" }, {});
    if (reply.kind !== "answer") throw new SandboxLoginError(`${person} can't log in: ${reply.message}`);
    return { ...(reply.answer as Session), apiKey: sandbox["admin.apiKey"] };
  };
  const sessionOf = (as: EndpointCall["as"]): Promise<Session> | Session => {
    if (as === "nobody") return {};
    if (typeof as === "object") return as;
    const begun = sessions.get(as) ?? signIn(as);
    sessions.set(as, begun);
    return begun;
  };
  return {
    call: async (call, signal) => exchange(call, call.name === "login" ? {} : await sessionOf(call.as), signal),
    fetch: (url, signal) => send({ method: "GET", url, headers: {} }, signal),
    leave: async () => {
      for (const session of sessions.values()) {
        await exchange({ name: "logout", request: {}, as: await session }, await session);
      }
      sessions.clear();
    },
  };
}

const untaken: CallResult = {
  ...{ kind: "unreadable", status: 0, body: undefined, code: "notImplemented" },
  message: "The platform takes no known form of this call",
};

function written(
  call: EndpointCall,
  session: Session,
  { habits, spelling, wireNames = {} }: RawPlatform,
): OutgoingRequest | undefined {
  const form = formOf(call.name, habits(), spelling, call.form);
  if (!form) return undefined;
  const [method = "", plainPath = ""] = form.to.split(" ");
  const { authToken, userId, apiKey } = session;
  const parameters = form.request?.(call.request) ?? call.request;
  const { path, body } = onWire(plainPath, parameters, wireNames);
  const inBody = form.session === undefined ? {} : { authToken, userId };
  const asked = new URLSearchParams(
    Object.entries(body).map(([name, value]): [string, string] => [name, inQuery(value)]),
  );
  const query = form.query && asked.size > 0 ? `?${asked.toString()}` : "";
  const headers = {
    "content-type": "application/json",
    ...(form.session === "body" ? {} : present({ "x-auth-token": authToken, "x-user-id": userId })),
    ...present({ "x-api-key": apiKey }),
    ...call.headers,
  };
  return {
    method: call.method ?? method,
    url: `${path}${query}`,
    headers,
    body: form.query ? undefined : JSON.stringify({ ...body, ...inBody }),
  };
}

const present = (headers: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined));

/** Reads what came as the contract does, but takes every refusal for one, whatever a client makes of it. */
function read(name: EndpointName, { status, text }: IncomingAnswer): CallResult {
  const wire = answerIn(text);
  const body = wire === undefined ? text.trim() : wire;
  const { refusal = refusalIn, unwrap, answer: schema }: Endpoint = endpoints[name];
  const reason = refusal(body);
  if (reason !== undefined || status >= 400) {
    const message = reason ?? `HTTP ${status}`;
    return { kind: "refused", status, body, code: codeOf(status, reason ?? ""), message };
  }
  const answer = schema.safeParse(unwrap(body));
  if (status < 300 && answer.success) return { kind: "answer", status, body, answer: answer.data };
  const message = `The answer is not as documented: ${answer.error?.issues[0]?.path.join(".") ?? `HTTP ${status}`}`;
  return { kind: "unreadable", status, body, code: "badAnswer", message };
}
