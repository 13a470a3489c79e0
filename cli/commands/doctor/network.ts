import { lookup } from "node:dns/promises";
import http from "node:http";
import https from "node:https";
import net from "node:net";
import tls from "node:tls";
import { textOf } from "../../../provider/client/http/bodies.ts";
import { agentFor, hostOf, portOf, proxyFor, secureSocket, tunnel } from "../../../provider/client/http/proxies.ts";

/** Largest answer that is looked at, in megabytes. */
const maxMegabytes = 1;

/** An answer to a request without an account. */
export interface Reached {
  status: number;
  location: string | undefined;
  /** Undefined for one that is too large. */
  text: string | undefined;
  /** The platform's clock, in milliseconds since the epoch. */
  date: number | undefined;
  /** Ours, in the middle between request and answer. */
  ownDate: number;
}

/** The server's TLS certificate and how it was judged, before anything is sent. */
export interface Certificate {
  /** Code of what Node holds against it. */
  refused: string | undefined;
  from: number;
  to: number;
  /** True if it is for the name that was asked for. */
  isForHost: boolean;
}

/** The ways to look at an address, none of which has an account. Each rejects with the system's error. */
export interface Network {
  addresses: (host: string) => Promise<string[]>;
  connect: (url: URL, timeoutMs: number) => Promise<void>;
  certificate: (url: URL, timeoutMs: number) => Promise<Certificate>;
  /** Sends one request; a POST has an empty JSON object. */
  request: (url: URL, method: "GET" | "POST", timeoutMs: number) => Promise<Reached>;
}

/** The code of a system's error; of the first one, where each address of a name has its own. */
export function codeOf(error: unknown): string {
  const { code, errors } = (error ?? {}) as { code?: unknown; errors?: unknown };
  if (typeof code === "string") return code;
  return Array.isArray(errors) && errors.length > 0 ? codeOf(errors[0]) : "no code";
}

const late = (): Error => Object.assign(new Error("time is up"), { code: "ETIMEDOUT" });

/** Waits until a socket is ready; one that does not become so is closed. */
function once(socket: net.Socket, event: "connect" | "secureConnect", timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => {
      clearTimeout(timer);
      reject(error);
      socket.destroy();
    };
    const timer = setTimeout(() => fail(late()), timeoutMs);
    socket.once(event, () => {
      clearTimeout(timer);
      resolve();
    });
    socket.on("error", fail);
    socket.once("close", () => fail(Object.assign(new Error("closed"), { code: "ECONNRESET" })));
  });
}

/** Sees what is wrong with a certificate itself: of several reasons Node names one that may not be the cause. */
function certificateOf(socket: tls.TLSSocket, host: string): Certificate {
  const certificate = socket.getPeerCertificate();
  const { authorizationError: error } = socket as { authorizationError: unknown };
  return {
    refused: socket.authorized ? undefined : error instanceof Error ? codeOf(error) : String(error),
    from: Date.parse(certificate.valid_from),
    to: Date.parse(certificate.valid_to),
    isForHost: tls.checkServerIdentity(host, certificate) === undefined,
  };
}

function request(url: URL, method: "GET" | "POST", timeoutMs: number): Promise<Reached> {
  return new Promise((resolve, reject) => {
    const { request } = url.protocol === "https:" ? https : http;
    const began = Date.now();
    const headers = { "content-type": "application/json", accept: "application/json" };
    const agent = agentFor(url, {}, timeoutMs);
    const sent = request(url, { method, headers, agent, signal: AbortSignal.timeout(timeoutMs) });
    const fail = (error: Error): void => reject(error.name === "AbortError" ? late() : error);
    sent.once("error", fail);
    sent.once("response", (response) => {
      const { date, location } = response.headers;
      const ownDate = (began + Date.now()) / 2;
      textOf(response, maxMegabytes).then((text) => {
        const time = Date.parse(date ?? "");
        const known = Number.isNaN(time) ? undefined : time;
        resolve({ status: response.statusCode ?? 0, location, text, date: known, ownDate });
      }, fail);
    });
    sent.end(method === "POST" ? "{}" : undefined);
  });
}

/** Connects as the client does: through the proxy of the environment where there is one. */
async function reach(url: URL, timeoutMs: number): Promise<net.Socket> {
  const proxy = proxyFor(url);
  if (proxy) return tunnel(proxy, url, timeoutMs);
  const socket = net.connect({ host: hostOf(url), port: portOf(url) });
  await once(socket, "connect", timeoutMs);
  return socket;
}

/** The network of this machine. */
export const machineNetwork: Network = {
  addresses: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
  connect: async (url, timeoutMs) => void (await reach(url, timeoutMs)).destroy(),
  certificate: async (url, timeoutMs) => {
    // Nothing is sent: it is looked at, and believed nowhere.
    const socket = secureSocket(await reach(url, timeoutMs), hostOf(url), { rejectUnauthorized: false });
    try {
      await once(socket, "secureConnect", timeoutMs);
      return certificateOf(socket, hostOf(url));
    } finally {
      socket.destroy();
    }
  },
  request,
};
