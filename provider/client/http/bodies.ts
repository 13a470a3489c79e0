import type { Effect } from "../../contract/endpoint.ts";

const MB = 2 ** 20;

/** Megabytes that an answer may have: a table takes many, and a platform must not fill this machine's memory. */
export const maxMegabytesOf = (effect: Effect): number => (effect === "read" ? 256 : 1);

/** The text of a body; undefined when it is larger than `megabytes`, of which no more are read. */
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
