import { bytesOf, bytesWithoutEscapes, readingsOf, textOfBytes, type DecodedText } from "./readings.ts";

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
