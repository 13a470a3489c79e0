import { pipeline, type Readable } from "node:stream";
import { createBrotliDecompress, createGunzip } from "node:zlib";
import type * as Undici from "undici";
import { proxyFor, ProxyError, tunnel, type Proxy } from "./proxies.ts";
import { codesOf, failureOfConnection, TransportError, type HttpSender, type HttpSenderOptions } from "./sender.ts";

/** A pool of kept-alive connections to one origin, through the proxy of the environment where there is one. */
export function openSender(url: URL, { timeouts, connections }: HttpSenderOptions): HttpSender {
  const proxy = proxyFor(url);
  let errors: typeof Undici.errors | undefined;
  // Loaded with the first request: most programs only declare resources.
  const open = async (): Promise<Undici.Pool> => {
    const undici = await import("undici");
    ({ errors } = undici);
    const connect = connectorTo(url, proxy, timeouts.connect, undici);
    return new undici.Pool(url.origin, {
      ...{ connections, connect, headersTimeout: timeouts.headers, bodyTimeout: timeouts.body },
    });
  };
  let opened: Promise<Undici.Pool> | undefined;
  let isClosed = false;
  return {
    send: async ({ method, path, headers, body }, signal) => {
      if (isClosed) throw new TransportError("cancelled", "The client is closed");
      const pool = await (opened ??= open());
      const asked = { ...headers, "accept-encoding": acceptEncoding };
      const answer = await pool.request({ method, path, headers: asked, body: body ?? null, signal });
      return {
        status: answer.statusCode,
        header: (name) => oneOf(answer.headers[name]),
        body: decode(answer.body, oneOf(answer.headers["content-encoding"])),
      };
    },
    failureOf: (error) => failureOf(error, url.origin, errors),
    close: async () => {
      isClosed = true;
      await opened?.then((pool) => pool.destroy());
    },
  };
}

function connectorTo(
  url: URL,
  proxy: Proxy | undefined,
  timeoutMs: number,
  { buildConnector }: typeof Undici,
): Undici.Pool.Options["connect"] {
  if (!proxy) return { timeout: timeoutMs };
  const secure = buildConnector({ timeout: timeoutMs });
  return (options, callback) => {
    tunnel(proxy, url, timeoutMs).then(
      (socket) =>
        url.protocol === "https:" ? secure({ ...options, httpSocket: socket }, callback) : callback(null, socket),
      (error: unknown) => callback(error as ProxyError, null), // the only one
    );
  };
}

/** @param errors those of undici; undefined before it was loaded */
function failureOf(error: unknown, origin: string, errors: typeof Undici.errors | undefined): TransportError {
  const { code } = codesOf(error);
  if (error instanceof ProxyError) return new TransportError("unreachable", error.message, error.lasting);
  if (!errors) return new TransportError("unreachable", `undici can't be loaded (${code})`, true);
  if (error instanceof errors.RequestAbortedError || (error instanceof Error && error.name === "AbortError"))
    return new TransportError("cancelled", "The call was cancelled");
  if (error instanceof errors.ClientDestroyedError || error instanceof errors.ClientClosedError)
    return new TransportError("cancelled", "The client is closed");
  if (error instanceof errors.ConnectTimeoutError)
    return new TransportError("unreachable", `${origin} did not answer in time (${code})`);
  const unconnected = failureOfConnection(error, origin);
  if (unconnected) return unconnected;
  if (error instanceof errors.HeadersTimeoutError || error instanceof errors.BodyTimeoutError)
    return new TransportError("timeout", `${origin} did not finish its answer in time (${code})`);
  if (error instanceof errors.InvalidArgumentError)
    return new TransportError("unreachable", "The request can't be written as HTTP, so it was not sent", true);
  if (isDecoding(code)) return new TransportError("badAnswer", `${origin} sent an answer that can't be decompressed`);
  if (code.startsWith("HPE_"))
    return new TransportError("badAnswer", `${origin} does not speak HTTP as expected (${code})`);
  return new TransportError("connectionLost", `The connection to ${origin} was lost (${code})`);
}

const oneOf = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header[0] : header;

/** The header Accept-Encoding: what `decode` understands. */
export const acceptEncoding = "gzip, br";

/** The parts of a body without its Content-Encoding. Throws for one that was not asked for. */
export function decode(body: Readable, encoding: string | undefined): AsyncIterable<Uint8Array> {
  const name = encoding?.trim().toLowerCase() ?? "";
  if (name === "" || name === "identity") return body;
  const decoder = name === "br" ? createBrotliDecompress() : /^(x-)?gzip$/.test(name) ? createGunzip() : undefined;
  if (!decoder) {
    body.on("error", () => undefined).destroy(); // the error below is the one
    throw new TransportError("badAnswer", "The answer is in an encoding that was not asked for", true);
  }
  // Each end of the pipeline destroys the other: a body that is not read to its end keeps no connection.
  pipeline(body, decoder, () => undefined);
  return decoder;
}

/** True for the code of an error of `decode`. */
export const isDecoding = (code: string): boolean => /^(Z_|ERR__ERROR_|ERR_BROTLI|ERR_PADDING)/.test(code);
