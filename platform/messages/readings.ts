/** The bytes that a text stands for in one way of reading it, and the place of each in the text. */
export interface DecodedText {
  /** A character for each byte (Latin-1). */
  bytes: string;
  /** Index of the first character that stands for the byte, and of the one behind the last. */
  from: (byte: number) => number;
  to: (byte: number) => number;
  /** False for decoded bytes, which hold no words. */
  isText: boolean;
}

/** Spellings within spellings that are read, such as JSON in JSON. */
const deepest = 3;

/**
 * The readings of a text: unchanged; without the escapes of JSON, of URLs and forms, and of HTML; and the base64 or
 * hexadecimal in each of these, decoded. Together they are several times as long as the text.
 */
export function* readingsOf(text: string): Generator<DecodedText> {
  for (const reading of writtenOut(text)) {
    yield reading;
    yield* encodingsIn(reading);
  }
}

/** The text itself, and without its escapes. */
function* writtenOut(text: string): Generator<DecodedText> {
  const plain = asItIs(text);
  yield plain;
  const form = { ...plain, bytes: plain.bytes.replaceAll("+", " ") };
  for (const spelled of text.includes("+") ? [plain, form] : [plain]) {
    if (spelled === form) yield form;
    let reading = spelled;
    for (let depth = 1; depth <= deepest && escape.test(reading.bytes); depth++) {
      reading = unescaped(reading);
      yield reading;
    }
  }
}

function* encodingsIn(reading: DecodedText): Generator<DecodedText> {
  for (const { 0: run, index } of reading.bytes.matchAll(/[\w+/-]{6,}={0,2}/g)) {
    for (let at = 0; at < 4; at++) yield encoded({ reading, run, index, at, encoding: "base64", perByte: 4 / 3 });
  }
  for (const { 0: run, index } of reading.bytes.matchAll(/[\da-f]{8,}/gi)) {
    for (let at = 0; at < 2; at++) yield encoded({ reading, run, index, at, encoding: "hex", perByte: 2 });
  }
}

/** The bytes of a text without any escape. */
export function bytesWithoutEscapes(text: string): string {
  let reading = asItIs(text);
  for (let depth = 1; depth <= deepest && escape.test(reading.bytes); depth++) reading = unescaped(reading);
  return reading.bytes;
}

const encoder = new TextEncoder();

/** The bytes of a text, a character for each. */
export function bytesOf(text: string): string {
  const bytes = encoder.encode(text);
  if (bytes.length === text.length) return text; // each character is one
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += 8192) parts.push(String.fromCharCode(...bytes.subarray(at, at + 8192)));
  return parts.join("");
}

/** The text of bytes. */
export const textOfBytes = (bytes: string): string =>
  new TextDecoder("utf-8", { ignoreBOM: true }).decode(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0)));

function asItIs(text: string): DecodedText {
  const bytes = bytesOf(text);
  // Then each character is one byte.
  if (bytes.length === text.length) return { bytes, from: (byte) => byte, to: (byte) => byte + 1, isText: true };
  const [from, to]: [number[], number[]] = [[], []];
  let at = 0;
  for (const character of text) {
    const end = at + character.length;
    for (let width = encoder.encode(character).length; width > 0; width--) {
      from.push(at);
      to.push(end);
    }
    at = end;
  }
  return placed(bytes, from, to);
}

const placed = (bytes: string, from: readonly number[], to: readonly number[]): DecodedText => ({
  bytes,
  from: (byte) => from[byte] ?? 0,
  to: (byte) => to[byte] ?? 0,
  isText: true,
});

const escapes = String.raw`%[\da-f]{2}|(?:\\u[\da-f]{4})+|\\x[\da-f]{2}|\\["'\\/bfnrt]|&(?:amp|lt|gt|quot|apos|nbsp|#\d{1,7}|#x[\da-f]{1,6});`;
const escape = new RegExp(escapes, "i");

function unescaped({ bytes, from, to }: DecodedText): DecodedText {
  const parts: string[] = [];
  const [starts, ends]: [number[], number[]] = [[], []];
  let done = 0;
  const keep = (end: number): void => {
    parts.push(bytes.slice(done, end));
    for (; done < end; done++) {
      starts.push(from(done));
      ends.push(to(done));
    }
  };
  for (const { 0: found, index } of bytes.matchAll(new RegExp(escapes, "gi"))) {
    keep(index);
    for (const [text, length] of meant(found)) {
      parts.push(text);
      for (let count = text.length; count > 0; count--) {
        starts.push(from(done));
        ends.push(to(done + length - 1));
      }
      done += length;
    }
  }
  keep(bytes.length);
  return placed(parts.join(""), starts, ends);
}

const named: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" };
const short: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

/** The bytes that an escape stands for, each with the number of characters that write it. */
function meant(escape: string): [bytes: string, length: number][] {
  const { length } = escape;
  const inner = escape.slice(1);
  if (escape.startsWith("%")) return [[String.fromCharCode(Number.parseInt(inner, 16)), length]];
  if (escape.startsWith("&#")) {
    const code = /^#x/i.test(inner) ? Number.parseInt(inner.slice(2), 16) : Number.parseInt(inner.slice(1), 10);
    return [[bytesOf(String.fromCodePoint(Math.min(code, 0x10ffff))), length]];
  }
  if (escape.startsWith("&")) return [[bytesOf(named[inner.slice(0, -1).toLowerCase()] ?? ""), length]];
  if (/^u/i.test(inner)) {
    const units = escape.match(/[\da-f]{4}/gi) ?? [];
    const text = String.fromCharCode(...units.map((unit) => Number.parseInt(unit, 16)));
    return Array.from(text, (character) => [bytesOf(character), character.length * 6]);
  }
  if (/^x/i.test(inner)) return [[bytesOf(String.fromCharCode(Number.parseInt(inner.slice(1), 16))), length]];
  return [[short[inner] ?? inner, length]];
}

/** A run of characters that may encode bytes, from one of its first ones on. */
interface Run {
  reading: DecodedText;
  run: string;
  /** Where it stands in the reading. */
  index: number;
  /** The character that the encoding begins at. */
  at: number;
  encoding: "base64" | "hex";
  perByte: number;
}

/** The bytes that a run encodes; characters at its end that make no byte are left out. */
const decoders = {
  base64: (run: string): string => {
    const digits = run.replaceAll("-", "+").replaceAll("_", "/").replace(/=+$/, "");
    return atob(digits.length % 4 === 1 ? digits.slice(0, -1) : digits);
  },
  hex: (run: string): string =>
    (run.match(/../g) ?? []).map((byte) => String.fromCharCode(Number.parseInt(byte, 16))).join(""),
};

function encoded({ reading, run, index, at, encoding, perByte }: Run): DecodedText {
  const start = index + at;
  const bytes = decoders[encoding](run.slice(at));
  return {
    bytes,
    from: (byte) => reading.from(start + Math.floor(byte * perByte)),
    // Padding belongs to the last byte.
    to: (byte) =>
      reading.to((byte + 1 === bytes.length ? index + run.length : start + Math.ceil((byte + 1) * perByte)) - 1),
    isText: false,
  };
}
