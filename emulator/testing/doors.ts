import { createClient } from "../../provider/client/client.ts";
import type { AnswerOf, EndpointName, RequestOf } from "../../provider/contract/endpoints.ts";
import { at, type Json } from "../../provider/contract/wire.ts";
import { forms } from "./forms.ts";

/** A way to reach a platform: the typed client, or plain HTTP in one of the forms of each endpoint. */
export const doors = ["client", "first form", "other form"] as const;
export type Door = (typeof doors)[number];

/** How a call was refused. */
export interface Refusal {
  code: string | undefined;
  said: string;
  /** As it came; undefined where the client kept it to itself. */
  body: unknown;
}

/** Someone who calls endpoints through a door. Answers and requests are the contract's, whatever the form. */
export interface ApiUser {
  call: <Name extends EndpointName>(name: Name, request: RequestOf<Name>) => Promise<AnswerOf<Name>>;
  /** The call must be refused; the request may be anything. */
  refused: (name: EndpointName, request: object) => Promise<Refusal>;
  leave: () => Promise<void>;
}

export interface Account {
  email: string;
  password: string;
  apiKey?: string;
}

export function enter(door: Door, endpoint: string, account: Account): ApiUser {
  return door === "client" ? typed(endpoint, account) : plain(endpoint, account, door === "first form" ? 0 : 1);
}

function typed(endpoint: string, account: Account): ApiUser {
  const client = createClient({ endpoint, ...account, retries: { attempts: 1 } });
  return {
    call: <Name extends EndpointName>(name: Name, request: RequestOf<Name>) => {
      const method = client[name] as (request: unknown) => Promise<unknown>; // TypeScript pairs no names
      return method(request) as Promise<AnswerOf<Name>>;
    },
    refused: async (name, request) => {
      try {
        await (client[name] as (request: object) => Promise<unknown>)(request);
      } catch (error) {
        const { code, platformMessage: said } = error as { code: string; platformMessage: string };
        return { code, said, body: undefined };
      }
      throw new Error(`${name} was not refused`);
    },
    leave: () => client.close(),
  };
}

const codes: Record<number, string> = {
  400: "invalidRequest",
  401: "unauthorized",
  403: "forbidden",
  404: "notFound",
  409: "conflict",
};

function plain(endpoint: string, account: Account, form: 0 | 1): ApiUser {
  let session: Promise<Json> | undefined;
  const send = async (name: EndpointName, request: Json) => {
    const { to, query, sessionInBody, ...how } = forms[name][form];
    const [method = "", path = ""] = to.split(" ");
    const credentials = name === "login" ? {} : await (session ??= signedIn());
    const body = { ...(how.request?.(request) ?? request), ...(sessionInBody ? credentials : {}) };
    const parameters = new URLSearchParams(query ? (body as Record<string, string>) : {}); // IDs and addresses
    const response = await fetch(`${endpoint}${path}${query ? `?${parameters.toString()}` : ""}`, {
      method,
      headers: { "content-type": "application/json", ...(sessionInBody ? {} : headersOf(credentials, account)) },
      ...(query ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json() };
  };
  const signedIn = async () => {
    const { body } = await send("login", { email: account.email, password: account.password });
    const { answer } = forms.login[form];
    return answered(body, answer) as Json;
  };
  return {
    call: async <Name extends EndpointName>(name: Name, request: RequestOf<Name>) => {
      const { status, body } = await send(name, request);
      if (status !== 200) throw new Error(`${name}: ${status} ${JSON.stringify(body)}`);
      if (at(body, "status") === "failure" || at(body, "status") === "error") {
        throw new Error(`${name}: ${JSON.stringify(body)}`);
      }
      return answered(body, forms[name][form].answer) as AnswerOf<Name>;
    },
    refused: async (name, request) => {
      const { status, body } = await send(name, request as Json);
      if (status < 400) throw new Error(`${name} was not refused`);
      const [error, message] = [at(body, "error"), at(body, "message") ?? at(body, "body.message")];
      return { code: codes[status], said: [error, message].filter(Boolean).join(": "), body };
    },
    leave: () => Promise.resolve(),
  };
}

const headersOf = ({ authToken, userId }: Json, { apiKey }: Account): Record<string, string> => ({
  ...(typeof authToken === "string" ? { "x-auth-token": authToken, "x-user-id": String(userId) } : {}),
  ...(apiKey === undefined ? {} : { "x-api-key": apiKey }),
});

const answered = (body: unknown, answer: Json | ((body: unknown) => unknown)): unknown =>
  typeof answer === "function"
    ? answer(body)
    : Object.fromEntries(Object.entries(answer).map(([name, path]) => [name, at(body, String(path))]));
