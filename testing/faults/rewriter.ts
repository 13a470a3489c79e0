import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { endpoints, routesOf, type EndpointName } from "../../platform/contract/endpoints.ts";
import { at, isObject, type Json } from "../../platform/contract/wire.ts";

/** Rewrites calls as a platform that differs from the emulator. */
export interface Habits {
  /** Of reads of rows. */
  request?: (request: Json) => Json;
  row?: (row: Json) => Json;
  /** Answers by endpoint. */
  answers?: Partial<Record<EndpointName, (answer: unknown) => unknown>>;
}

/** A platform with habits of its own. */
export interface Rewriter {
  url: string;
  habits: Habits;
  /** Address of the platform that it passes all calls on to. */
  target: string;
  /** Endpoints that were called since the first answer that was rewritten, and that one. */
  since: EndpointName[];
  close: () => Promise<void>;
}

const routes = routesOf();

/** A server before a platform that rewrites calls on their way. */
export async function rewriter(): Promise<Rewriter> {
  const server = createServer((message, response) => {
    const parts: Buffer[] = [];
    message.on("data", (part: Buffer) => parts.push(part));
    message.on("end", () => {
      const path = message.url ?? "";
      const rewrites = path === endpoints.microappdata.path;
      void passOn(path, rewrites, message.method ?? "", message.headers, Buffer.concat(parts)).then(
        ({ status, text }) => response.writeHead(status, { "content-type": "application/json" }).end(text),
        () => response.destroy(),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // it listens on TCP
  const made: Rewriter = {
    url: `http://127.0.0.1:${port}`,
    habits: {},
    target: "",
    since: [],
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  async function passOn(
    path: string,
    rewrites: boolean,
    method: string,
    given: Readonly<Record<string, string | string[] | undefined>>,
    body: Buffer,
  ): Promise<{ status: number; text: string }> {
    const { request = same, row = same } = made.habits;
    const names = ["content-type", "x-auth-token", "x-user-id", "x-api-key"];
    const headers = names.flatMap((name) => (typeof given[name] === "string" ? [[name, given[name]]] : []));
    const sent = rewrites ? JSON.stringify(request(JSON.parse(body.toString()) as Json)) : body.toString(); // the client's
    const answer = await fetch(`${made.target}${path}`, {
      method,
      headers: Object.fromEntries(headers) as Record<string, string>, // just made of pairs
      ...(method === "GET" ? {} : { body: sent }),
    });
    const text = await answer.text();
    const name = routes.get(path.replace(/\?.*/, ""))?.name;
    const rewrite = name && made.habits.answers?.[name];
    if (name && (rewrite || made.since.length > 0)) made.since.push(name);
    if (rewrite && answer.status === 200) return { status: 200, text: JSON.stringify(rewrite(JSON.parse(text))) };
    const found: unknown = rewrites ? at(JSON.parse(text), "body.microAppRows") : undefined;
    if (!Array.isArray(found)) return { status: answer.status, text };
    const microAppRows = found.map((one) => (isObject(one) ? row(one) : (one as unknown)));
    return { status: answer.status, text: JSON.stringify({ status: "success", body: { microAppRows } }) };
  }
  return made;
}

const same = (one: Json): Json => one;
