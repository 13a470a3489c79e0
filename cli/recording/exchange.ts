import type { IncomingHttpHeaders } from "node:http";
import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from "node:zlib";
import { checkJsonBounds } from "../../machine/settings/bounds.ts";
import type { Endpoint } from "../../provider/contract/endpoint.ts";
import { endpoints, type EndpointName, routesOf } from "../../provider/contract/endpoints.ts";
import { isObject, refusalIn, type Json } from "../../provider/contract/wire.ts";

/** A request and its answer, after both have gone through. */
export interface Passed {
  method: string;
  /** Path and query, as they were asked for. */
  target: string;
  headers: IncomingHttpHeaders;
  /** Undefined for a body that is larger than what is copied. */
  body: Buffer | undefined;
  /** When it came, in milliseconds since the epoch. */
  time: number;
  status: number;
  answerHeaders: IncomingHttpHeaders;
  answer: Buffer | undefined;
}

/** A call of the interface, understood. */
export interface RecordedExchange {
  name: EndpointName;
  method: string;
  /** The last part of its path, which is the endpoint's name on the wire. */
  wireName: string;
  /** Headers of the request, with names in lower case. */
  headers: Readonly<Record<string, string | undefined>>;
  time: number;
  /** The parameters in their documented form, as they came. */
  sent: Json;
  /** The parameters as the contract reads them; undefined when they do not fit it. */
  request: Json | undefined;
  status: number;
  /** The whole answer. */
  wire: unknown;
  /** The answer without its envelope; undefined for a refusal, and for one that does not fit the contract. */
  answer: Json | undefined;
  /** The platform's words when it refused. */
  refused: string | undefined;
}

/** Bytes of a body that was compressed. */
export const maxBytesUnpacked = 64 * 2 ** 20;

const decoders: Readonly<Record<string, (body: Buffer, options: { maxOutputLength: number }) => Buffer>> = {
  gzip: gunzipSync,
  "x-gzip": gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
};

/** A body as text, without its compressions; undefined for one that can't be read. */
export function textOf(
  body: Buffer,
  encoding: string | undefined,
  maxOutputLength = maxBytesUnpacked,
): string | undefined {
  try {
    const steps = (encoding ?? "").split(",").map((step) => step.trim().toLowerCase());
    const bytes = steps.reduceRight((left, step) => decoders[step]?.(left, { maxOutputLength }) ?? left, body);
    return bytes.toString("utf8");
  } catch {
    return undefined;
  }
}

/** JSON where it is some, else the text. */
function valueOf(text: string): unknown {
  try {
    checkJsonBounds(text, { levels: 100, values: Infinity });
    return text === "" ? undefined : JSON.parse(text);
  } catch {
    return text;
  }
}

const routes = routesOf();

/**
 * Reads a proxied request as a call of the interface; undefined for anything else. `base` is the path of the platform.
 */
export function exchangeOf(passed: Passed, base: string): RecordedExchange | undefined {
  const url = URL.parse(passed.target, "http://platform");
  if (!url?.pathname.startsWith(base) || passed.body === undefined || passed.answer === undefined) return undefined;
  const route = routes.get(url.pathname.slice(base.length));
  if (!route || !(route.methods as string[]).includes(passed.method)) return undefined;
  const headers = Object.fromEntries(
    Object.entries(passed.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value]),
  );
  const asked = textOf(passed.body, headers["content-encoding"]);
  const answered = textOf(passed.answer, passed.answerHeaders["content-encoding"]);
  if (asked === undefined || answered === undefined) return undefined;
  const { name } = route;
  const endpoint: Endpoint = endpoints[name];
  const sent = endpoint.accept({ headers, query: Object.fromEntries(url.searchParams), body: valueOf(asked) });
  const request = endpoint.request.safeParse(sent);
  const wire = valueOf(answered);
  const { status, time } = passed;
  const refused = (endpoint.refusal ?? refusalIn)(wire) ?? (status >= 400 ? `status ${status}` : undefined);
  const answer = refused === undefined ? endpoint.answer.safeParse(endpoint.unwrap(wire)) : undefined;
  return {
    ...{ name, method: passed.method, wireName: url.pathname.replace(/.*\//, "") },
    ...{ headers, time, status, wire, refused },
    sent: isObject(sent) ? sent : {},
    request: request.success ? (request.data as Json) : undefined, // requests are objects
    answer: answer?.success ? (answer.data as Json) : undefined, // and so are answers
  };
}
