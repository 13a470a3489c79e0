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
  const form = { ...plain, bytes: plain.bytes.replaceAll("+", " ") };
  for (let reading of text.includes("+") ? [plain, form] : [plain]) {
    yield reading;
    for (let depth = 1; depth <= deepest && escape.test(reading.bytes); depth++) {
      reading = unescaped(reading);
      yield reading;
    }
  }
}

/** What runs of characters encode, from one of the first of them on. A secret in one of them hides the whole run. */
function* encodingsIn({ bytes, from, to }: DecodedText): Generator<DecodedText> {
  for (const { runs, decode, starts } of encodings) {
    for (const { 0: run, index } of bytes.matchAll(runs)) {
      const place = { from: () => from(index), to: () => to(index + run.length - 1), isText: false };
      for (let at = 0; at < starts; at++) yield { bytes: decode(run.slice(at)), ...place };
    }
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

/** The encodings of bytes; characters at the end of a run that make no byte are left out. */
const encodings = [
  {
    runs: /[\w+/-]{6,}={0,2}/g,
    starts: 4,
    decode: (run: string): string => {
      const digits = run.replaceAll("-", "+").replaceAll("_", "/").replace(/=+$/, "");
      return atob(digits.length % 4 === 1 ? digits.slice(0, -1) : digits);
    },
  },
  {
    runs: /[\da-f]{8,}/gi,
    starts: 2,
    decode: (run: string): string =>
      (run.match(/../g) ?? []).map((byte) => String.fromCharCode(Number.parseInt(byte, 16))).join(""),
  },
];

/** Stands in the place of a secret. */
export const masked = "[secret]";

/** Characters of the shortest secret that can be hidden: a shorter one is a part of too many words. */
export const shortestSecret = 4;

/** Bytes from which on a secret is hidden inside a word, and the beginning of one that was cut off is hidden, too. */
const long = 12;

/** A stretch of a text. */
interface Stretch {
  start: number;
  end: number;
}

/** Secrets that begin with the same four bytes. */
interface Family {
  texts: Set<string>;
  /** How long they are, the longest first. */
  lengths: number[];
}

/**
 * Hides secrets in texts that people read, however they are spelled: plain, in either Unicode form, as JSON, URLs, forms,
 * HTML, base64 (of a header, say) or hexadecimal have it. A short one of letters and digits is hidden as a whole word
 * alone: `[secret]istration` would reveal it. It reads a text a few times, whatever the number of secrets.
 */
export class Mask {
  readonly #families = new Map<number, Family>();
  readonly #clear: string[];
  readonly #long: number;

  /**
   * @param clear words that stay readable even when they hold a secret, since hiding them would tell it
   * @param insideFrom bytes from which on a secret is hidden inside a word
   */
  constructor(secrets: Iterable<string>, clear: readonly string[] = [], insideFrom = long) {
    this.#clear = clear.filter((word) => word !== "");
    this.#long = insideFrom;
    this.add(secrets);
  }

  /** Hides more secrets from now on. */
  add(secrets: Iterable<string>): void {
    for (const secret of secrets) {
      if (secret.length < shortestSecret) continue;
      for (const form of formsOf(secret)) this.#know(form);
    }
  }

  #know(text: string): void {
    if (text.length < 4) return;
    const code = codeAt(text, 0);
    const family = this.#families.get(code) ?? { texts: new Set(), lengths: [] };
    this.#families.set(code, family);
    family.texts.add(text);
    if (family.lengths.includes(text.length)) return;
    family.lengths.push(text.length);
    family.lengths.sort((a, b) => b - a);
  }

  /** The text without any secret. */
  hide(text: string): string {
    const found = this.#families.size === 0 ? [] : this.#secretsIn(text);
    let shown = "";
    let done = 0;
    for (const { start, end } of joined(found)) {
      shown += text.slice(done, start) + masked;
      done = end;
    }
    return shown + text.slice(done);
  }

  /** True when a text holds a secret. */
  hides(text: string): boolean {
    return this.hide(text) !== text;
  }

  #secretsIn(text: string): Stretch[] {
    const found: Stretch[] = [];
    for (const reading of readingsOf(text)) found.push(...this.#in(reading));
    if (found.length === 0) return found;
    const exempt = this.#clear.flatMap((word) => placesOf(word, text));
    return found.filter(({ start, end }) => !exempt.some((word) => word.start <= start && word.end >= end));
  }

  /** The length of the longest secret that stands at a place. */
  #lengthOf({ texts, lengths }: Family, { bytes, isText }: DecodedText, at: number): number | undefined {
    return lengths.find((length) => {
      if (at + length > bytes.length) return false;
      const text = bytes.slice(at, at + length);
      return texts.has(text) && (!isText || text.length >= this.#long || isWhole(text, bytes, at));
    });
  }

  *#in(reading: DecodedText): Generator<Stretch> {
    const { bytes, from, to } = reading;
    const cut = bytes.indexOf(ellipsis);
    for (let at = 0; at + 4 <= bytes.length; at++) {
      const family = this.#families.get(codeAt(bytes, at));
      if (!family) continue;
      const length =
        this.#lengthOf(family, reading, at) ?? (at < cut ? cutLengthOf(family, bytes, at, cut) : undefined);
      if (length !== undefined) yield { start: from(at), end: to(at + length - 1) };
    }
  }
}

/** A text as it may come back: in either Unicode form, with other white space, an address in small letters, without escapes. */
function formsOf(secret: string): Set<string> {
  const texts = [secret, secret.replaceAll(/\s+/g, " ").trim()];
  if (secret.includes("@")) texts.push(secret.toLowerCase());
  const forms = texts.flatMap((text) => [text, text.normalize("NFC"), text.normalize("NFD")]);
  return new Set(forms.flatMap((form) => [bytesOf(form), bytesWithoutEscapes(form)]));
}

const codeAt = (bytes: string, at: number): number =>
  (bytes.charCodeAt(at) << 24) |
  (bytes.charCodeAt(at + 1) << 16) |
  (bytes.charCodeAt(at + 2) << 8) |
  bytes.charCodeAt(at + 3);

/** True when a secret short enough to be a part of a word stands by itself. */
function isWhole(text: string, bytes: string, at: number): boolean {
  if (!word.test(textOfBytes(text))) return true;
  const end = at + text.length;
  const [before, after] = [
    textOfBytes(bytes.slice(Math.max(0, at - widest), at)),
    textOfBytes(bytes.slice(end, end + widest)),
  ];
  return !(endsInWord.test(before) || beginsWithWord.test(after));
}

const word = /^[\p{L}\p{N}]+$/u;
const endsInWord = /[\p{L}\p{N}]$/u;
const beginsWithWord = /^[\p{L}\p{N}]/u;

/** Bytes of the widest character. */
const widest = 4;

/** Stands where a long text was cut. */
const ellipsis = bytesOf("…");

/** How much of a long secret stands before the place where a text was cut. */
function cutLengthOf({ texts, lengths }: Family, bytes: string, at: number, cut: number): number | undefined {
  if (cut - at < long || cut - at >= (lengths[0] ?? 0)) return undefined;
  const rest = bytes.slice(at, cut);
  for (const text of texts) if (text.startsWith(rest)) return rest.length;
  return undefined;
}

function placesOf(word: string, text: string): Stretch[] {
  const places: Stretch[] = [];
  for (let start = text.indexOf(word); start >= 0; start = text.indexOf(word, start + 1)) {
    places.push({ start, end: start + word.length });
  }
  return places;
}

/** The stretches in order; those that overlap are one. */
function joined(stretches: Stretch[]): Stretch[] {
  const all: Stretch[] = [];
  for (const { start, end } of stretches.toSorted((a, b) => a.start - b.start)) {
    const last = all.at(-1);
    if (last && start < last.end) last.end = Math.max(last.end, end);
    else all.push({ start, end });
  }
  return all;
}
