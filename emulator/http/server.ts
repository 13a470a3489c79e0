import { isUtf8 } from "node:buffer";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline, Readable } from "node:stream";
import { messageOf } from "../../machine/failures.ts";
import { invalid } from "../data/platformError.ts";

/** Limit of a request's body, 64 MiB: a batch of 10,000 wide rows fits. */
export const maxBytes = 64 * 1024 * 1024;
/** Time for running requests when the server closes. */
const closeTimeoutMs = 10_000;

/** A request with its whole body. */
export interface Arrived {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: Readonly<Record<string, string | undefined>>;
  body: Buffer;
  /** The body as it comes, where it is read in pieces; `body` is empty then. */
  stream: Readable;
  /** True if it comes from this machine. */
  local: boolean;
}

/** An answer before it is sent. A Buffer or stream is sent unchanged, anything else as JSON. */
export interface Outgoing {
  status: number;
  body: unknown;
  headers: Record<string, string>;
}

/** How a call ends on the wire: answered, connection reset, cut in the middle, or never answered. */
export type Ending = "answer" | "reset" | "cut" | "never";

/** Answers a request, and decides how the answer ends on the wire. */
export type Answering = (request: Arrived) => Promise<{ outgoing: Outgoing; ending: Ending }>;

/** Listens for requests; no request ends the process. `readsBody` is true for those whose body is read in pieces. */
export async function listen(
  answering: Answering,
  options: { host: string; port: number; unref: boolean; readsBody: (method: string, path: string) => boolean },
): Promise<{ url: string; close: () => Promise<void> }> {
  const { host, port, unref, readsBody } = options;
  const held = new Set<ServerResponse>(); // responses that never end
  const server = createServer((message, response) => void respond(message, response, { answering, readsBody, held }));
  server.keepAliveTimeout = 60_000;
  server.on("clientError", (_error, socket) => {
    if (socket.writable) socket.end(`HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n`);
    else socket.destroy();
  });
  if (unref) server.on("connection", (socket) => socket.unref());
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(listeningFailure(error, port)));
    server.listen(port, host, resolve);
  });
  if (unref) server.unref();
  const { address, port: taken } = server.address() as AddressInfo; // it listens on a port
  // The addresses that stand for all of the machine's lead nowhere: loopback stands for them.
  const followed = address === "0.0.0.0" ? "127.0.0.1" : address === "::" ? "::1" : address;
  const url = `http://${followed.includes(":") ? `[${followed}]` : followed}:${taken}`;
  return { url, close: () => close(server, held) };
}

/** Stops accepting connections, lets running requests end and closes idle connections. */
async function close(server: Server, held: ReadonlySet<ServerResponse>): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  for (const response of held) response.destroy();
  const timer = setTimeout(() => server.closeAllConnections(), closeTimeoutMs);
  const sweep = setInterval(() => server.closeIdleConnections(), 20);
  await closed;
  clearTimeout(timer);
  clearInterval(sweep);
}

interface Serving {
  answering: Answering;
  readsBody: (method: string, path: string) => boolean;
  held: Set<ServerResponse>;
}

async function respond(message: IncomingMessage, response: ServerResponse, serving: Serving): Promise<void> {
  const { answering, readsBody, held } = serving;
  try {
    const target = message.url ?? "/";
    const url = URL.parse(target.startsWith("/") ? `http://localhost${target}` : target);
    if (!url) {
      refuse(message, response, 400, "the request's target is not valid");
      return;
    }
    const { method = "GET" } = message;
    const body = readsBody(method, url.pathname) ? Buffer.alloc(0) : await received(message);
    if (!body) {
      refuse(message, response, 413, `a request may have ${maxBytes} bytes at most`);
      return;
    }
    const entries = Object.entries(message.headers);
    const { outgoing, ending } = await answering({
      method,
      path: url.pathname,
      query: url.searchParams,
      headers: Object.fromEntries(entries.map(([name, value]) => [name, [value].flat().join(", ")])),
      body,
      stream: message,
      local: /^(::1|(::ffff:)?127\.\d+\.\d+\.\d+)$/.test(message.socket.remoteAddress ?? ""),
    });
    message.resume(); // whoever is refused may still be writing
    if (ending === "answer") send(response, outgoing);
    else if (ending === "reset") message.socket.resetAndDestroy();
    else if (ending === "cut") {
      const text = JSON.stringify(outgoing.body);
      send(response, { ...outgoing, body: Buffer.from(text.slice(0, Math.ceil(text.length / 2))), headers: {} });
    } else {
      held.add(response); // until the client hangs up, or the emulator closes
      response.on("close", () => held.delete(response));
    }
  } catch (error) {
    if (response.headersSent || response.destroyed) response.destroy();
    else {
      const body = { status: "failure", message: `Internal error: ${messageOf(error)}` };
      send(response, { status: 500, body, headers: {} });
    }
  }
}

/** Answers at once and reads on: a client that writes before it reads would find the connection reset, and no answer. */
function refuse(message: IncomingMessage, response: ServerResponse, status: number, why: string): void {
  send(response, { status, body: { status: "failure", message: why }, headers: {} });
  message.resume();
}

/** The whole body, undefined when it is too large. */
async function received(message: IncomingMessage): Promise<Buffer | undefined> {
  if (Number(message.headers["content-length"] ?? 0) > maxBytes) return undefined;
  const chunks: Buffer[] = [];
  let size = 0;
  // A loop that is left destroys the message, and with it the connection.
  for await (const chunk of message.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Sends an answer: a Buffer or stream unchanged, anything else as JSON. */
function send(response: ServerResponse, { status, body, headers }: Outgoing): void {
  if (body instanceof Readable) {
    response.writeHead(status, { "content-type": "application/octet-stream", ...headers });
    pipeline(body, response, () => undefined); // an error cuts the connection, which the client notices
    return;
  }
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
  response.writeHead(status, { "content-type": "application/json", "content-length": bytes.length, ...headers });
  response.end(bytes);
}

/** Deepest nesting of a body: what reads it recurses. */
const deepest = 64;

/** The JSON document in a body; an empty body is none. */
export function parseBody(body: Buffer): unknown {
  if (body.length === 0) return undefined;
  if (!isUtf8(body)) throw invalid("the body is not valid UTF-8");
  let value: unknown;
  try {
    value = JSON.parse(body.toString("utf8"));
  } catch {
    throw invalid("the body is not valid JSON");
  }
  let containers = [[value]] as unknown[];
  for (let depth = 0; containers.length > 0; depth++) {
    if (depth > deepest) throw invalid(`the body is nested more than ${deepest} levels deep`);
    containers = containers
      .flatMap((each) => Object.values(each as object) as unknown[])
      .filter((each) => typeof each === "object" && each !== null);
  }
  return value;
}

/** True if an address to listen on is reached by this machine only. */
export const isLoopback = (address: string): boolean => /^(localhost|127\.\d+\.\d+\.\d+|::1)$/.test(address);

/** True if a Host header is one of this machine's own names. A page of elsewhere whose name leads here has its own. */
export const isOwnHost = (host: string): boolean => /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/.test(host);

const refusals: Readonly<Record<string, string>> = {
  EADDRINUSE: "is taken: name another with --port, or 0 for a free one",
  EACCES: "is not for this user: name one from 1024",
};

/** Why nothing listens at a port that a person named. */
function listeningFailure(error: unknown, port: number): Error {
  const reason = refusals[(error as NodeJS.ErrnoException).code ?? ""];
  return new Error(reason === undefined ? messageOf(error) : `port ${port} ${reason}`);
}
