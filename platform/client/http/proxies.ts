import type http from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import tls from "node:tls";

// Not imported: that would read all that they export, and so load what their `fetch` is made of, for tens of milliseconds.
const modules = (protocol: string) => process.getBuiltinModule(protocol === "https:" ? "node:https" : "node:http");

type Environment = Readonly<Record<string, string | undefined>>;

/** A proxy that the environment names. */
export interface Proxy {
  url: URL;
  /** The variable that names it. */
  variable: string;
}

/** Without account, for people. */
export const describeProxy = ({ url, variable }: Proxy): string => `${url.origin} (${variable})`;

/** The proxy did not connect to the platform, so nothing was sent there. */
export class ProxyError extends Error {
  readonly code: string;
  /** True when trying again is pointless. */
  readonly lasting: boolean;

  constructor(proxy: Proxy, code: string, what: string, lasting = false) {
    super(`The proxy ${describeProxy(proxy)} ${what} (${code})`);
    this.name = "ProxyError";
    this.code = code;
    this.lasting = lasting;
  }
}

/** The host without the brackets of IPv6. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, "");
export const portOf = ({ port, protocol }: URL): number => Number(port) || (protocol === "https:" ? 443 : 80);

/**
 * The proxy for an address, as curl and Node choose it: HTTPS_PROXY or HTTP_PROXY by its protocol, small letters first,
 * unless NO_PROXY names its host. What is on this machine is reached without one. Throws a TypeError for what is no proxy.
 */
export function proxyFor(address: URL, environment: Environment = process.env): Proxy | undefined {
  const name = address.protocol === "https:" ? "https_proxy" : "http_proxy";
  const variable = [name, name.toUpperCase()].find((each) => environment[each]);
  const written = variable === undefined ? undefined : environment[variable]?.trim();
  if (variable === undefined || !written || isHere(hostOf(address))) return undefined;
  if (isExempt(address, environment["no_proxy"] ?? environment["NO_PROXY"] ?? "")) return undefined;
  const url = URL.parse(written.includes("://") ? written : `http://${written}`);
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new TypeError(`${variable} must name a proxy by an address with http:// or https://`);
  }
  // Else the name of the account was asked, and the beginning of its password was the port.
  if ((url.pathname + url.search + url.hash).includes("@")) {
    throw new TypeError(
      `${variable} has a character in its password that ends an address: write %23 for #, %2F for / and %3F for ?`,
    );
  }
  return { url, variable };
}

const isHere = (host: string): boolean => /^(.+\.)?localhost$|^127\.\d+\.\d+\.\d+$|^::1$/.test(host);

/** True when a list names a host, a domain that contains it, or all hosts; each may have a port. */
function isExempt(address: URL, list: string): boolean {
  const host = hostOf(address);
  return list.split(/[\s,]+/).some((entry) => {
    const [, name = entry, port] = /^([^:]*|\[.*\]):(\d+)$/.exec(entry) ?? [];
    const domain = name
      .replace(/^\[|\]$/g, "")
      .replace(/^\*?\.(?=.)/, "")
      .toLowerCase();
    if (domain === "" || (port !== undefined && Number(port) !== portOf(address))) return false;
    return domain === "*" || host === domain || host.endsWith(`.${domain}`);
  });
}

/** Opens a connection to an address through a proxy. Rejects with a ProxyError. */
export function tunnel(proxy: Proxy, address: URL, timeoutMs: number): Promise<Socket> {
  const { url } = proxy;
  const target = `${address.hostname}:${portOf(address)}`;
  const { request } = modules(url.protocol);
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), timeoutMs);
  return new Promise<Socket>((resolve, reject) => {
    const asked = request({
      ...{ method: "CONNECT", host: hostOf(url), port: portOf(url), path: target, agent: false },
      headers: { host: target, ...authorizationOf(url) },
      signal: late.signal,
    });
    asked.once("error", ({ name, code = name }: NodeJS.ErrnoException) =>
      reject(new ProxyError(proxy, name === "AbortError" ? "ETIMEDOUT" : code, "can't be reached, or does not answer")),
    );
    asked.once("connect", ({ statusCode = 0 }, socket: Duplex) => {
      if (statusCode === 200) {
        resolve(socket as Socket);
        return;
      } // that of a request on a socket
      socket.destroy();
      const what = statusCode === 407 ? "wants a user and a password, or other ones" : `does not connect to ${target}`;
      reject(new ProxyError(proxy, `HTTP ${statusCode}`, what, statusCode < 500));
    });
    asked.end();
  }).finally(() => clearTimeout(timer));
}

function authorizationOf({ username, password }: URL): { "proxy-authorization"?: string } {
  if (username === "" && password === "") return {};
  const account = [username, password].map(decoded).join(":");
  return { "proxy-authorization": `Basic ${Buffer.from(account).toString("base64")}` };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** TLS over a connection that is there. Certificates are checked unless the options say otherwise. */
export const secureSocket = (socket: Socket, host: string, options: tls.ConnectionOptions = {}): tls.TLSSocket =>
  tls.connect({ ...options, socket, ...(/^[\d.]+$|:/.test(host) ? { host } : { host, servername: host }) });

/** An agent for requests of `node:http` and `node:https` to one address, through its proxy where there is one. */
export function agentFor(address: URL, options: http.AgentOptions = {}, timeoutMs = 60_000): http.Agent {
  const agent = new (modules(address.protocol).Agent)(options);
  const proxy = proxyFor(address);
  if (!proxy) return agent;
  agent.createConnection = (_, callback) => {
    tunnel(proxy, address, timeoutMs).then(
      (socket) => callback?.(null, address.protocol === "https:" ? secureSocket(socket, hostOf(address)) : socket),
      (error: unknown) => callback?.(error as ProxyError, undefined as never), // without a socket
    );
    return undefined;
  };
  return agent;
}
