import { createHmac } from "node:crypto";
import { Mac } from "./mac.ts";
import { Scrambler } from "./scramble.ts";

/** Changes whenever one of the masks below does: recorded masks are a test. */
const version = "microapps masks 1";

const letters = "abcdefghijkmnpqrstuvwxyz23456789";
const onsets = "b br c d dr f fl g gr h j k kl l m n p pl pr qu r s sk sl st t tr v vr w x z".split(" ");
const vowels = "a e i o u ae io ou".split(" ");
const endings = "b d f k l m n nd r rk s st t x z lm".split(" ");

/** Letters of an invented address before the @, 65 bits. */
const addressLength = 13;
/** Most words of an invented name. */
const maxWords = 3;

const day = 24 * 60 * 60;
/** Days by which a date is moved: another month in any case. */
const [minDays, maxDays] = [40, 730];

/** Makes masks: HMAC-SHA-256 with a secret decides on all of them. The same value has the same one in every table and run. */
export class Pseudonyms {
  readonly #mac: Mac;
  readonly #scrambler: Scrambler;

  constructor(secret: string) {
    this.#mac = new Mac(createHmac("sha256", secret).update(version).digest());
    this.#scrambler = new Scrambler(this.#digest("digits", "").toString("hex"));
  }

  /** An address under example.com; letter case, Unicode form and a name around it do not count. */
  address(text: string): string {
    const bytes = this.#digest("address", normal(text));
    let local = "";
    for (let index = 0; index < addressLength; index++) local += letters.charAt((bytes[index] ?? 0) & 31);
    return `${local}@example.com`;
  }

  /** The name of a person, with as many words up to three; letter case, Unicode form and spaces do not count. */
  name(text: string): string {
    const plain = normal(text);
    const bytes = this.#digest("name", plain);
    const count = Math.min(plain.split(" ").length, maxWords);
    let made = wordOf(bytes, 0);
    for (let index = 1; index < count; index++) made += ` ${wordOf(bytes, index * 7)}`;
    return made;
  }

  /** A text of the same form, see `scramble`. Unicode forms do not count. */
  digits(text: string): string {
    return this.#scrambler.scramble(text.normalize("NFC"));
  }

  /** A number of as many digits; one that no double holds exactly becomes a whole one of 15. */
  number(value: number): number {
    const [, sign = "", plain] = /^(-?)(\d+(?:\.\d+)?)$/.exec(String(value)) ?? [];
    const text = plain !== undefined && plain.replace(".", "").length <= 15 ? plain : undefined;
    if (text !== undefined) return Number(sign + this.digits(text));
    return 10 ** 14 + (this.#digest("number", String(value)).readUIntBE(0, 6) % (9 * 10 ** 14));
  }

  /** Seconds by which the dates of a person are moved: 40 days to two years, to either side. */
  span(person: string): number {
    const bytes = this.#digest("span", person);
    const seconds = minDays * day + (bytes.readUIntBE(0, 6) % ((maxDays - minDays) * day));
    return (bytes[6] ?? 0) & 1 ? seconds : -seconds;
  }

  /** A number that orders the rows of a table by chance, from their keys. */
  rank(key: string): number {
    return this.#digest("rank", key).readUIntBE(0, 6);
  }

  #digest(kind: string, text: string): Buffer {
    return this.#mac.digest(`${kind}\0${text}`);
  }
}

/** A text in one Unicode form, in small letters, with single spaces. */
function normal(text: string): string {
  const folded = text.normalize("NFC").toLowerCase().trim();
  return /\s\s|[^\S ]/.test(folded) ? folded.replaceAll(/\s+/g, " ") : folded;
}

/** A word of three syllables, 28 bits. */
function wordOf(bytes: Uint8Array, at: number): string {
  const part = (parts: readonly string[], index: number): string =>
    parts[(bytes[at + index] ?? 0) % parts.length] ?? "";
  let word = "";
  for (const index of [0, 2, 4]) word += part(onsets, index) + part(vowels, index + 1);
  word += part(endings, 6);
  return word.charAt(0).toUpperCase() + word.slice(1);
}
