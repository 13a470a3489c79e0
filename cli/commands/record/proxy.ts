import http, { type IncomingMessage, type ServerResponse } from "node:http";
import https from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { listeningFailure } from "../../../machine/failures.ts";
import { isOwnHost } from "../../../machine/hosts.ts";
import { isOwnPeer } from "../../../machine/peers.ts";
import { agentFor } from "../../../provider/client/http/proxies.ts";
import type { Passed } from "../../recording/exchange.ts";
import { Copies, type Copy } from "./copies.ts";

export interface ProxyOptions {
  /** The platform; a path in it is not added: the caller's address has it. */
  to: URL;
  /** 0 is a free one. */
  port: number;
  passed: (exchange: Passed) => void;
  /** The platform could not be asked, or its connection was lost; the caller's is lost then, too. */
  failed: (error: Error) => void;
}

export interface RecordingProxy {
  /** The platform's address as callers have it now, with its path. */
  url: string;
  close: () => Promise<void>;
}

/** Bytes of the headers of one message, as most servers bound them. */
const maxHeaderSize = 64 * 1024;

/** Headers of a connection, not of the message. */
const ofConnection = new Set(["connection", "keep-alive", "proxy-connection", "te", "upgrade", "expect"]);

/** A caller's connection with the one to the platform, which is as old and ends when it does. */
interface Line {
  agent: http.Agent;
  /** Requests that are not answered yet. */
  open: number;
  ends: WeakSet<Socket>;
}

/** Passes requests of this user's processes on to a platform, and hands out copies of what was exchanged. */
export async function startProxy({ to, port, passed, failed }: ProxyOptions): Promise<RecordingProxy> {
  const copies = new Copies();
  const lines = new WeakMap<Socket, Line>();
  const server = http.createServer({ maxHeaderSize, requestTimeout: 0, keepAliveTimeout: 0 });
  server.on("connection", (socket) => {
    const line: Line = { agent: agentFor(to, { keepAlive: true, maxSockets: 1 }), open: 0, ends: new WeakSet() };
    lines.set(socket, line);
    socket.once("close", () => line.agent.destroy());
  });
  server.on("request", (message, response) => {
    const line = lines.get(message.socket);
    const refusal = refusalOf(message);
    if (refusal !== undefined || line === undefined) refuse(response, refusal ?? "the connection is not known");
    else pass({ message, response, line, to, here: url.origin, copies, passed, failed });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => reject(listeningFailure(error, port)));
    server.listen(port, "127.0.0.1", resolve);
  });
  const { port: taken } = server.address() as AddressInfo; // it listens on TCP
  const url = new URL(`http://127.0.0.1:${taken}${to.pathname.replace(/\/+$/, "")}`);
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: url.href.replace(/\/$/, ""), close };
}

/** Why a request is not passed on: pages of elsewhere and other users of the machine reach the port as well. */
function refusalOf({ headers, socket, url = "" }: IncomingMessage): string | undefined {
  if (!isOwnPeer(socket)) return "this recording is another user's";
  if (!isOwnHost(headers.host ?? "")) return "a recording is asked under this machine's own names alone";
  const { origin } = headers;
  if (origin !== undefined && !isOwnHost(URL.parse(origin)?.host ?? "")) return "a page of elsewhere is not passed on";
  return url.startsWith("/") || url === "*" ? undefined : "a recording is no general proxy: ask for a path";
}

function refuse(response: ServerResponse, message: string): void {
  response.writeHead(403, { "content-type": "application/json", connection: "close" });
  response.end(JSON.stringify({ status: "failure", message }));
}

interface Passing extends Pick<ProxyOptions, "to" | "passed" | "failed"> {
  message: IncomingMessage;
  response: ServerResponse;
  line: Line;
  /** The proxy's own origin. */
  here: string;
  copies: Copies;
}

function pass({ message, response, line, to, here, copies, passed, failed }: Passing): void {
  const time = Date.now();
  const { method = "GET", url: target = "/" } = message;
  const request = copies.of(message);
  const { request: send } = to.protocol === "https:" ? https : http;
  const { hostname, port, protocol } = to;
  const outgoing = send({
    ...{ protocol, hostname: hostname.replace(/^\[|\]$/g, ""), port, method, path: target, maxHeaderSize },
    ...{ agent: line.agent, headers: forwarded(message.rawHeaders, to, here), setHost: false },
  });
  line.open++;
  let answer: Copy | undefined;
  response.once("close", () => {
    line.open--;
    request.drop();
    answer?.drop();
    // Whoever hung up waits for nothing any more.
    if (!response.writableFinished) outgoing.destroy();
  });
  const lost = (error: Error): void => {
    if (!response.destroyed) failed(error);
    message.socket.destroy();
  };
  outgoing.on("socket", (socket: Socket) => endTogether(line, message.socket, socket)).on("error", lost);
  outgoing.on("response", (incoming) => {
    answer = copies.of(incoming);
    const { statusCode: status = 0, statusMessage, headers: answerHeaders } = incoming;
    response.sendDate = false;
    response.writeHead(status, statusMessage, returned(incoming.rawHeaders, to, here));
    response.flushHeaders();
    incoming.on("error", lost).pipe(response);
    incoming.on("end", () => {
      const { headers } = message;
      passed({ method, target, headers, body: request.take(), time, status, answerHeaders, answer: answer?.take() });
    });
  });
  message.on("error", () => outgoing.destroy()).pipe(outgoing);
}

/** Ends an idle caller's connection when the platform ends its own, so that no request is sent into one that is lost. */
function endTogether(line: Line, caller: Socket, socket: Socket): void {
  if (line.ends.has(socket)) return;
  line.ends.add(socket);
  socket.once("close", () => {
    if (line.open === 0) caller.end();
  });
}

/** Pairs of raw headers. */
const pairs = (raw: readonly string[]): [string, string][] =>
  raw.flatMap((name, index) => (index % 2 === 0 ? [[name, raw[index + 1] ?? ""] satisfies [string, string]] : []));

/** Headers as the platform gets them: its own name in the place of ours. */
function forwarded(raw: readonly string[], to: URL, here: string): string[] {
  return pairs(raw).flatMap(([name, value]) => {
    const key = name.toLowerCase();
    if (ofConnection.has(key)) return [];
    if (key === "host") return [name, to.host];
    const isPlace = (key === "origin" || key === "referer") && URL.parse(value)?.origin === here;
    return [name, isPlace ? value.replace(here, to.origin) : value];
  });
}

/** Headers as the caller gets them: a redirection on the platform leads through here. */
function returned(raw: readonly string[], to: URL, here: string): string[] {
  return pairs(raw).flatMap(([name, value]) => {
    const key = name.toLowerCase();
    if (key === "connection" && value.toLowerCase() === "close") return [name, value];
    if (ofConnection.has(key) || key === "transfer-encoding") return [];
    const isPlace = (key === "location" || key === "content-location") && URL.parse(value)?.origin === to.origin;
    return [name, isPlace ? value.replace(to.origin, here) : value];
  });
}
