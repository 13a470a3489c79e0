import http, { type IncomingMessage, type ServerResponse } from "node:http";
import https from "node:https";
import type { AddressInfo } from "node:net";
import type { Identity } from "../../platform/client/testing/certificates.ts";

/** Answers a request itself, or returns false to have it passed on to the platform. */
export type Answering = (request: IncomingMessage, response: ServerResponse) => boolean;

/** A server before a platform, whose answers each test sets. */
export class Front {
  readonly url: string;
  /** Default: everything is passed on. */
  answer: Answering = () => false;
  readonly #server: http.Server;

  private constructor(server: http.Server, url: string) {
    this.#server = server;
    this.url = url;
  }

  /** @param target address of the platform */
  static async start(target: string, identity?: Identity): Promise<Front> {
    const listener = (request: IncomingMessage, response: ServerResponse): void => {
      if (!front.answer(request, response)) passOn(target, request, response);
    };
    const server = identity ? https.createServer(identity, listener) : http.createServer(listener);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo; // it listens on TCP
    const front = new Front(server, identity ? `https://localhost:${port}` : `http://127.0.0.1:${port}`);
    return front;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

function passOn(target: string, request: IncomingMessage, response: ServerResponse): void {
  const { host, port } = new URL(target);
  const headers = { ...request.headers, host };
  const sent = http.request(
    { host: "127.0.0.1", port, path: request.url, method: request.method, headers },
    (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    },
  );
  sent.on("error", () => response.destroy());
  request.pipe(sent);
}

/** Answers everything with this. */
export const always =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answering =>
  (request, response) => {
    request.resume();
    const text = typeof body === "string" ? body : JSON.stringify(body);
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(text);
    return true;
  };

/** Answers the paths that end so with this, and passes the others on. */
export const at =
  (path: string, answering: Answering): Answering =>
  (request, response) =>
    (request.url ?? "").split("?")[0]?.endsWith(path) ? answering(request, response) : false;
