import { readingsOf } from "../../../provider/messages/readings.ts";

/** Encodings within encodings that are read. */
const deepest = 3;

const unreadable = /[\0-\u0008\u000e-\u001f\u007f\ufffd]/;

/** A text, and the texts that it stands for in any encoding, and in encodings of these. */
export function layersOf(text: string): ReadonlySet<string> {
  const all = new Set([text]);
  let layer: readonly string[] = [text];
  for (let depth = 1; depth <= deepest && layer.length > 0; depth++) {
    const next: string[] = [];
    for (const { bytes, isText } of layer.flatMap((one) => [...readingsOf(one)])) {
      const read = Buffer.from(bytes, "latin1").toString("utf8");
      if (all.has(read) || (!isText && unreadable.test(read))) continue;
      all.add(read);
      next.push(read);
    }
    layer = next;
  }
  return all;
}
