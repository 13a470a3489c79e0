import { createHmac, hash } from "node:crypto";

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
  readonly #key: Buffer;
  readonly #scrambler: Scrambler;

  constructor(secret: string) {
    this.#key = createHmac("sha256", secret).update(version).digest();
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

  #digest(kind: string, text: string): Buffer {
    return createHmac("sha256", this.#key).update(`${kind}\0${text}`).digest();
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

/** A place of a text that gets another character. */
interface Position {
  index: number;
  /** Number of the character there, below `radix`. */
  value: number;
  radix: number;
  /** First character of those that may stand there. */
  first: number;
}

/** Largest half of a text that is permuted, as a number: sums with 52 random bits stay exact. */
const largest = 2 ** 40;

/** Rounds of the Feistel network. FF1 of NIST SP 800-38G has ten, against attackers who choose what is masked. */
const rounds = 8;
/** Forms of fewer texts go there and back, by so many rounds each. */
const [small, smallRounds] = [1e9, 6];

const code = (text: string): number => text.charCodeAt(0);
const [zero, one, upper, lower] = ["0", "1", "A", "a"].map(code) as [number, number, number, number];

/** Keys of forms that are kept. */
const maxForms = 10_000;

/**
 * Makes other texts of the same form: a digit for each digit, a letter for each letter, the rest as it stands. Two texts of one
 * form never become the same, and none stays: each form has a permutation of its own, a Feistel network over both halves with keyed SHA-256. Of a
 * number the zeros at its beginning stay, and none come.
 */
class Scrambler {
  readonly #key: string;
  #forms = new Map<string, string>();

  /** @param key at least 128 bits, as text */
  constructor(key: string) {
    this.#key = key;
  }

  scramble(text: string): string {
    const characters = Array.from(text);
    const { positions, form } = positionsIn(text, characters);
    if (positions.length === 0) return text;
    for (let attempt = 0; ; attempt++) {
      const moved = permute(positions, this.#keyOf(`${attempt};${form}`));
      for (let at = 0; at < positions.length; at++) {
        const { index, first } = positions[at] as Position; // below the length
        characters[index] = String.fromCharCode(first + (moved[at] ?? 0));
      }
      const scrambled = characters.join("");
      // A large permutation may leave a text where it is, with odds of 1 to 10^9; a second one then takes it elsewhere.
      if (scrambled !== text || attempt === rounds) return scrambled;
    }
  }

  /** The key of a form: short, so that a round is one block of SHA-256. */
  #keyOf(form: string): string {
    const known = this.#forms.get(form);
    if (known !== undefined) return known;
    const made = hash("sha256", `${this.#key}${form}`, "base64").slice(0, 22);
    if (this.#forms.size >= maxForms) this.#forms = new Map();
    this.#forms.set(form, made);
    return made;
  }
}

const isDigitCode = (at: number): boolean => at >= 48 && at <= 57;
const isUpperCode = (at: number): boolean => at >= 65 && at <= 90;
const isLowerCode = (at: number): boolean => at >= 97 && at <= 122;

/** Places whose characters are replaced, and the form of all others. */
function positionsIn(text: string, characters: readonly string[]): { positions: Position[]; form: string } {
  const isNumber = text.length > 1 && /^\d+(\.\d+)?$/.test(text);
  const zeros = isNumber ? (/^0*/.exec(text)?.[0].length ?? 0) : 0;
  const last = isNumber && text.includes(".") ? text.length - 1 : -1;
  const positions: Position[] = [];
  let form = isNumber ? "n" : "t";
  for (let index = 0; index < characters.length; index++) {
    const character = characters[index] ?? "";
    const at = character.codePointAt(0) ?? 0;
    const [isDigit, isUpper, isLower] = [isDigitCode(at), isUpperCode(at), isLowerCode(at)];
    if (
      isNumber
        ? index < zeros || !isDigit || (index === last && at === zero)
        : at < 128 && !isDigit && !isUpper && !isLower
    ) {
      form += character;
      continue;
    }
    if (isDigit && isNumber && (index === zeros || index === last)) {
      // No zero comes where a number would lose it.
      positions.push({ index, value: at - one, radix: 9, first: one });
      form += "\u0003";
    } else if (isDigit || isUpper || isLower) {
      const first = isDigit ? zero : isUpper ? upper : lower;
      positions.push({ index, value: at - first, radix: isDigit ? 10 : 26, first });
      form += isDigit ? "\u0000" : isUpper ? "\u0001" : "\u0002";
    } else {
      positions.push(elsewhere(index, character, at));
      form += `\u0005${character}`;
    }
  }
  return { positions, form };
}

/** A character beyond ASCII becomes an ASCII one of its kind. It is part of the form, so that it counts as a whole. */
function elsewhere(index: number, character: string, at: number): Position {
  const [radix, first] = /\p{Nd}/u.test(character) ? [10, zero] : [26, /\p{Lu}/u.test(character) ? upper : lower];
  return { index, value: at % radix, radix, first };
}

function permute(positions: readonly Position[], key: string): number[] {
  const middle = Math.ceil(positions.length / 2);
  const sizeA = sizeOf(positions, 0, middle);
  const sizeB = sizeOf(positions, middle, positions.length);
  if (sizeA > largest || sizeB > largest) return drawAll(positions, key);
  if (positions.length === 1) return [next(positions[0]?.value ?? 0, sizeA, key)];
  let a = numberOf(positions, 0, middle);
  let b = numberOf(positions, middle, positions.length);
  const isSmall = sizeA * sizeB <= small;
  const count = isSmall ? smallRounds : rounds;
  for (let round = 0; round < count; round++) {
    if (round % 2 === 0) a = (a + draw(`${key}${round}:${b}`)) % sizeA;
    else b = (b + draw(`${key}${round}:${a}`)) % sizeB;
  }
  if (isSmall) {
    // One step on and the same way back is a single circle through all texts of the form: none stays where it is.
    b = (b + 1) % sizeB;
    if (b === 0) a = (a + 1) % sizeA;
    for (let round = count - 1; round >= 0; round--) {
      if (round % 2 === 0) a = (a + sizeA - (draw(`${key}${round}:${b}`) % sizeA)) % sizeA;
      else b = (b + sizeB - (draw(`${key}${round}:${a}`) % sizeB)) % sizeB;
    }
  }
  const characters = new Array<number>(positions.length);
  for (let index = positions.length - 1; index >= 0; index--) {
    const { radix } = positions[index] as Position; // below the length
    const rest = index < middle ? a : b;
    characters[index] = rest % radix;
    if (index < middle) a = Math.floor(rest / radix);
    else b = Math.floor(rest / radix);
  }
  return characters;
}

/** The number behind one in a circle of all numbers below a size, in an order that the key decides on. */
function next(number: number, size: number, key: string): number {
  const drawn = Array.from({ length: size }, (_, each) => draw(`${key}${each}`));
  const order = Array.from(drawn.keys()).sort((a, b) => (drawn[a] ?? 0) - (drawn[b] ?? 0));
  return order[(order.indexOf(number) + 1) % size] ?? number;
}

function sizeOf(positions: readonly Position[], from: number, to: number): number {
  let size = 1;
  for (let index = from; index < to; index++) size *= positions[index]?.radix ?? 1;
  return size;
}

function numberOf(positions: readonly Position[], from: number, to: number): number {
  let number = 0;
  for (let index = from; index < to; index++) {
    const { radix, value } = positions[index] as Position; // below the length
    number = number * radix + value;
  }
  return number;
}

/** Long texts: each place by itself, keyed by the whole text. Two of them become the same one with odds below 2^-80. */
function drawAll(positions: readonly Position[], key: string): number[] {
  const text = positions.map(({ value }) => value).join(",");
  let bytes = "";
  return positions.map(({ radix }, index) => {
    if (index * 4 >= bytes.length) bytes += hash("sha256", `${key}${index}>${text}`, "binary");
    let drawn = 0;
    for (let byte = 0; byte < 4; byte++) drawn = drawn * 256 + bytes.charCodeAt(index * 4 + byte);
    return drawn % radix;
  });
}

/** 52 bits of a keyed digest. */
function draw(text: string): number {
  const bytes = hash("sha256", text, "binary");
  let drawn = bytes.charCodeAt(6) & 15;
  for (let byte = 0; byte < 6; byte++) drawn = drawn * 256 + bytes.charCodeAt(byte);
  return drawn;
}

/** Numbers below it are seconds since the epoch, others milliseconds. */
const firstMilliseconds = 1e11;

const writtenDate =
  /^(\d{4})-(\d{2})(?:-(\d{2})(?:([T ])(\d{2}):(\d{2})(?::(\d{2})(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?)?$/;

/** Days that stand for none in many tables. Moved as the others are, they would give the span away. */
const placeholder = /^(0001-01-01|1900-01-01|1970-01-01|9999-12-31)/;

/** True for a value that `moveDate` moves. */
export const isMovable = (value: unknown): value is string | number =>
  typeof value === "number"
    ? isTime(value)
    : typeof value === "string" && timeIn(writtenDate.exec(value)) !== undefined;

const isTime = (value: number): boolean => Number.isFinite(value) && Math.abs(value) <= 8e15;

/** True for a day that stands for none. */
export const isPlaceholder = (value: unknown): boolean =>
  value === 0 || (typeof value === "string" && placeholder.test(value));

/** A date moved by so many seconds, written as it was; undefined for what is none. A day is moved by whole days, a month by months. */
export function moveDate(value: unknown, seconds: number): string | number | undefined {
  if (typeof value === "number") {
    if (!isTime(value)) return undefined;
    return Math.abs(value) < firstMilliseconds ? value + seconds : value + seconds * 1000;
  }
  if (typeof value !== "string") return undefined;
  const match = writtenDate.exec(value);
  const time = timeIn(match);
  if (match === null || time === undefined) return undefined;
  const [, , , date, seam, , , second, fraction = "", zone = ""] = match;
  const days = Math.trunc(seconds / day) * day;
  if (date === undefined) return inYears(time, days).slice(0, 7);
  if (seam === undefined) return inYears(time, days).slice(0, 10);
  const moved = inYears(time, seconds).slice(0, second === undefined ? 16 : 19);
  return moved.replace("T", seam) + fraction + zone;
}

/** The time of a day and hour that there are, in milliseconds. */
function timeIn(match: RegExpExecArray | null): number | undefined {
  if (match === null) return undefined;
  const [, year, month, date = "01", , hour = "00", minute = "00", second = "00"] = match;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  const time = Date.parse(`${year ?? ""}-${month ?? ""}-${date}T${hour}:${minute}:${second}Z`);
  // JavaScript takes 30 February for 2 March.
  return Number.isNaN(time) || new Date(time).getUTCDate() !== Number(date) ? undefined : time;
}

/** The time moved, as ISO 8601; to the other side where it would leave the years of four digits. */
function inYears(time: number, seconds: number): string {
  const moved = new Date(time + seconds * 1000);
  const isInside = moved.getUTCFullYear() >= 1 && moved.getUTCFullYear() <= 9999;
  return (isInside ? moved : new Date(time - seconds * 1000)).toISOString();
}
