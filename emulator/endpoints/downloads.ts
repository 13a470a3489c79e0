import { get as getPlain, type IncomingMessage } from "node:http";
import { get as getSecure } from "node:https";
import { invalid } from "../data/platformError.ts";
import type { Settings } from "../data/settings.ts";

/** A downloaded file. */
export interface Download {
  bytes: Buffer;
  type: string;
  /** Last part of the address. */
  filename: string;
}

const timeoutMs = 10_000;

/**
 * Downloads a file, from hosts of the allow list only (`name`, or `name:port` for one that listens elsewhere): whoever
 * may call the platform must not reach through it what only this machine reaches. Redirections are not followed.
 */
export async function download(address: string, settings: Settings): Promise<Download> {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || (url.protocol !== "http:" && url.protocol !== "https:")) throw invalid("url must be an http(s) address");
  if (!settings.allowedHosts.includes(url.host) && !(url.port === "" && settings.allowedHosts.includes(url.hostname))) {
    throw invalid(`url: files are not downloaded from ${url.host}; the setting allowedHosts names the hosts`);
  }
  const response = await answered(url);
  if (response.statusCode !== 200) {
    response.resume();
    throw invalid(`url: ${url.host} answered ${response.statusCode ?? 0}`);
  }
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > settings.maximumFileBytes)
        throw invalid(`url: the file has more than ${settings.maximumFileBytes} bytes`);
      chunks.push(chunk);
    }
  } finally {
    response.destroy();
  }
  return {
    bytes: Buffer.concat(chunks),
    type: response.headers["content-type"] ?? "application/octet-stream",
    filename: url.pathname.split("/").at(-1) ?? "",
  };
}

function answered(url: URL): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const get = url.protocol === "http:" ? getPlain : getSecure;
    const request = get(url, { signal: AbortSignal.timeout(timeoutMs), agent: false }, resolve);
    request.on("error", (error) => reject(invalid(`url: ${url.host} can't be read: ${error.message}`)));
  });
}
