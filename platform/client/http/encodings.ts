import { pipeline, type Readable } from "node:stream";
import { createBrotliDecompress, createGunzip } from "node:zlib";
import { TransportError } from "./sender.ts";

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
