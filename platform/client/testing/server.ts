import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { endpoints, type EndpointName } from "../../contract/endpoints.ts";
import { createClient } from "../client.ts";
import type { Client, ClientOptions } from "../options.ts";

/** A request as the test's server saw it. */
interface Seen {
  endpoint: EndpointName | undefined;
  path: string;
  headers: IncomingHttpHeaders;
  body: unknown;
}

/** Returned when a request gets no answer, or gets it later. */
export const silence = Symbol("no answer");

/**
 * Answers a request: what it returns is sent as JSON with status 200, unless it answered by itself. Without any of
 * both a login or logout succeeds, and any other call stays without an answer.
 */
export type Answers = (seen: Seen, response: ServerResponse, count: number) => unknown;

export interface Server {
  url: string;
  seen: Seen[];
  /** How often an endpoint was asked. */
  count: (endpoint: EndpointName) => number;
  /** A client of this server that never waits, and is closed with it. */
  client: (options?: Partial<ClientOptions>) => Client;
  close: () => Promise<void>;
}

export const session = { authToken: "token-of-the-session", userId: "user-1" };

const usual: Partial<Record<EndpointName, unknown>> = { login: session, logout: { status: "success" } };

/** A small server for one test. */
export async function serve(answers: Answers): Promise<Server> {
  const seen: Seen[] = [];
  const clients: Client[] = [];
  const count = (endpoint: EndpointName): number => seen.filter((one) => one.endpoint === endpoint).length;
  const listener: RequestListener = (request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const text = Buffer.concat(parts).toString();
      const path = request.url ?? "";
      const [name] = path.split("?");
      const found = Object.entries(endpoints).find(([, { path }]) => path === name);
      const one: Seen = {
        endpoint: found?.[0] as EndpointName | undefined, // a key of the contract
        path,
        headers: request.headers,
        body: text === "" ? undefined : (JSON.parse(text) as unknown),
      };
      seen.push(one);
      const given = answers(one, response, one.endpoint ? count(one.endpoint) : 1);
      const answer = given ?? (one.endpoint && usual[one.endpoint]);
      if (given === silence || response.writableEnded || response.destroyed) return;
      if (answer === undefined) return;
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(answer));
    });
  };
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // it listens on TCP
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    seen,
    count,
    client: (options) => {
      const client = createClient({
        endpoint: url,
        email: "ann@crew.example",
        password: "correct horse",
        wait: () => Promise.resolve(),
        random: () => 0.5,
        ...options,
      });
      clients.push(client);
      return client;
    },
    close: async () => {
      await Promise.all(clients.map((client) => client.close()));
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Ends a response with a status and JSON. */
export function say(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
}
