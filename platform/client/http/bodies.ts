import type { Effect } from "../../contract/endpoint.ts";

const MB = 2 ** 20;

/** Largest answer in megabytes: 256 for a read, which may bring a table, 1 for any other call. It bounds the memory. */
export const maxMegabytesOf = (effect: Effect): number => (effect === "read" ? 256 : 1);

/** Reads the text of a body; undefined, without reading on, when it is larger than `megabytes`. */
export async function textOf(body: AsyncIterable<Uint8Array>, megabytes: number): Promise<string | undefined> {
  const decoder = new TextDecoder();
  const parts: string[] = [];
  let size = 0;
  for await (const part of body) {
    size += part.byteLength;
    if (size > megabytes * MB) return undefined; // which ends the connection
    parts.push(decoder.decode(part, { stream: true }));
  }
  parts.push(decoder.decode());
  return parts.join("");
}
