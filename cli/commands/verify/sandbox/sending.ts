import http from "node:http";
import https from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { textOf } from "../../../../provider/client/http/bodies.ts";
import { decode } from "../../../../provider/client/http/encodings.ts";
import { agentFor } from "../../../../provider/client/http/proxies.ts";
import {
  isRead,
  type IncomingAnswer,
  type OutgoingRequest,
  type Send,
} from "../../../../provider/conformance/platformClient.ts";
import { codeOf } from "../../doctor/network.ts";

/** Milliseconds that one request may take. */
const requestMs = 60_000;
/** Largest answer that is looked at, in megabytes. */
export const maxMegabytesOfAnswer = 64;
/** How often a request that the platform had no time for is sent again, and the longest wait in between (s). */
const repetitions = 5;
const longestWait = 60;

/** The platform can't be reached, or does not answer. */
export class NoAnswer extends Error {}

interface Options {
  /** Address of the platform. */
  url: string;
  timeoutMs?: number | undefined;
  maxMegabytes?: number | undefined;
  /** Aborts when nothing more is sent. */
  signal?: AbortSignal | undefined;
}

/** Sends requests as they are to one platform, and counts them. */
export class Sender {
  readonly #base: URL;
  readonly #timeoutMs: number;
  readonly #maxMegabytes: number;
  readonly #signal: AbortSignal | undefined;
  /** By origin. */
  readonly #agents = new Map<string, http.Agent>();
  #made = 0;

  constructor({ url, timeoutMs = requestMs, maxMegabytes = maxMegabytesOfAnswer, signal }: Options) {
    this.#base = new URL(url);
    this.#timeoutMs = timeoutMs;
    this.#maxMegabytes = maxMegabytes;
    this.#signal = signal;
  }

  /** Number of requests so far. */
  get made(): number {
    return this.#made;
  }

  /** Sends one request; again where the platform asks for patience, since it did nothing then. */
  readonly send: Send = async (request, asked) => {
    const signals = [asked, this.#signal].filter((each) => each !== undefined);
    const signal = signals.length > 0 ? AbortSignal.any(signals) : undefined;
    for (let attempt = 0; ; attempt++) {
      const answer = await this.#once(request, signal);
      if (attempt >= repetitions || !(answer.status === 429 || answer.status === 503)) return answer;
      const seconds = Number(answer.headers["retry-after"] ?? 2 ** attempt);
      await sleep(Math.min(Number.isFinite(seconds) ? seconds : 1, longestWait) * 1000, undefined, { signal });
    }
  };

  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
  }

  async #once({ method, url, headers, body }: OutgoingRequest, signal?: AbortSignal): Promise<IncomingAnswer> {
    const address = this.#address(url);
    const late = AbortSignal.timeout(this.#timeoutMs);
    const stopped = signal ? AbortSignal.any([signal, late]) : late;
    this.#made++;
    try {
      return await this.#exchanged(address, { method, headers, body }, stopped);
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof NoAnswer) throw error;
      const why = late.aborted ? "no answer in time" : codeOf(error);
      throw new NoAnswer(`${address.origin} can't be reached, or does not answer (${why})`);
    }
  }

  /** A path is below the platform's address; a whole address is one that the platform itself named. */
  #address(url: string): URL {
    if (url.startsWith("/")) return new URL(this.#base.pathname.replace(/\/+$/, "") + url, this.#base.origin);
    const address = URL.parse(url);
    if (address && (address.origin === this.#base.origin || address.protocol === "https:")) return address;
    throw new NoAnswer("a file's address is neither the platform's nor https://");
  }

  async #exchanged(url: URL, request: Omit<OutgoingRequest, "url">, signal: AbortSignal): Promise<IncomingAnswer> {
    const { method, headers, body } = request;
    const { request: begin } = url.protocol === "https:" ? https : http;
    const agent = this.#agents.get(url.origin) ?? agentFor(url, { keepAlive: true, maxSockets: 4 }, this.#timeoutMs);
    this.#agents.set(url.origin, agent);
    const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
    const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
      const sent = begin(url, { method, agent, signal, headers: { ...headers, ...length } });
      sent.once("error", reject).once("response", resolve);
      sent.end(body);
    });
    const text = await textOf(decode(response, response.headers["content-encoding"]), this.#maxMegabytes);
    if (text === undefined) throw new NoAnswer(`${url.origin} answers with more than ${this.#maxMegabytes} MB`);
    const named = Object.entries(response.headers).map(([name, value]) => [name, [value].flat().join(", ")] as const);
    return { status: response.statusCode ?? 0, headers: Object.fromEntries(named), text };
  }
}

/** Sends requests to a platform that may find things late, and notes when it does not answer. */
export class PatientSender {
  /** Milliseconds after each change: what is found late must not be taken for a way of answering. */
  pauseMs = 0;
  readonly #send: Send;
  readonly #lost = new AbortController();

  constructor(send: Send) {
    this.#send = send;
  }

  /** Aborts with the NoAnswer. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  readonly send: Send = async (request, signal) => {
    try {
      const answer = await this.#send(request, signal);
      if (this.pauseMs > 0 && !isRead(request.url)) await sleep(this.pauseMs, undefined, { signal });
      return answer;
    } catch (error) {
      if (error instanceof NoAnswer) this.#lost.abort(error);
      throw error;
    }
  };
}
