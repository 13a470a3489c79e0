import { hash } from "node:crypto";
import { timeOf, type RowData } from "../../platform/contract/values.ts";
import { isObject, entryIn } from "../../platform/contract/wire.ts";

/** 64 bits in two unsigned words: numbers hold 53 bits, and BigInt is too slow for a million rows. */
export interface Digest {
  readonly high: number;
  readonly low: number;
}

/** A digest of a row's content, 128 bits. In a sketch, which has room for the first half alone, the second half is 0. */
export interface Content extends Digest {
  readonly third: number;
  readonly fourth: number;
}

/** Stored digests of a row: of its key and of its content. */
export interface RowDigests {
  readonly key: Digest;
  readonly content: Content;
}

/** True when two contents are equal, as far as both are known. */
export const sameContent = (one: Content, other: Content): boolean =>
  one.high === other.high &&
  one.low === other.low &&
  ((one.third === other.third && one.fourth === other.fourth) || isHalf(one) || isHalf(other));

const isHalf = ({ third, fourth }: Content): boolean => third === 0 && fourth === 0;

/** A content that differs from this one. */
export const another = (content: Content): Content => ({ ...content, high: (content.high ^ 1) >>> 0 });

/** Takes the digests of rows of one table. */
export interface RowDigester {
  /** Identity of a row; undefined when one of the key's labels has no value. */
  key: (values: RowData) => Digest | undefined;
  /** Content of a row, of the declared labels alone: what the platform adds to a row never counts. */
  content: (values: RowData) => Content;
}

/** Prefix of the present kind of salts. */
const mark = "2:";

/** The salt of a seed, of 16 random bytes. */
export const saltOf = (random: Uint8Array): string => mark + Buffer.from(random.subarray(0, 16)).toString("base64url");

/**
 * Digests of rows by their natural key and their declared labels, in any order of labels.
 *
 * In a key, text and number are the same (`"1"` is 1, `"01"` is not): a CSV knows text alone, and a row that came back
 * as a number must not be inserted again. In the content they differ, so a server that changes types is noticed.
 * Text is compared as it stands, without folding case, space or Unicode forms.
 *
 * Digests are keyed: SHA-256 with the seed's salt before the text, and of the outcome a part alone, which nobody can
 * extend. Without the salt nobody guesses rows by them, nor finds two rows that have the same ones.
 */
export function rowDigester(options: {
  key: readonly string[];
  labels: Iterable<string>;
  /** Labels whose values are keys of other rows: they are compared as keys are. */
  references?: Iterable<string>;
  /** Undefined where digests do not leave the process. */
  salt?: string | undefined;
  /** Labels whose values have several spellings. */
  forms?: ValueForms | undefined;
}): RowDigester {
  const { salt = "", forms = {} } = options;
  const references = new Set(options.references);
  const formed = (label: string, value: unknown): unknown => {
    const form = entryIn(forms, label);
    return form === undefined || references.has(label) ? value : inForm(form, value);
  };
  const hasForms = Object.keys(forms).length > 0;
  const labels = [...new Set(options.labels)].sort();
  const names = labels.map((label) => `${JSON.stringify(label)}:`);
  return {
    key: (values) => {
      let text = salt;
      for (const label of options.key) {
        const part = keyText(hasForms ? formed(label, values[label]) : values[label]);
        if (part === undefined) return undefined;
        text += measured(part);
      }
      return digestOf(text);
    },
    content: (values) => {
      let text = salt;
      for (let index = 0; index < labels.length; index++) {
        const label = labels[index] ?? "";
        const value = hasForms ? formed(label, values[label]) : values[label];
        const compared = references.has(label) ? keyText(value) : value;
        const content = typeof compared === "string" && compared !== "" ? measured(compared) : canonical(compared);
        if (content !== undefined) text += `${names[index] ?? ""}${content},`;
      }
      return digestOf(text);
    },
  };
}

/** Text that can stand beside other text without being mistaken for it; quicker than quoting. */
const measured = (text: string): string => `"${text.length}:${text}`;

/** The first 128 bits of any text's SHA-256. */
export function digestOf(text: string): Content {
  const bytes = hash("sha256", text, "binary"); // one character a byte: twice as fast as a buffer
  return { high: word(bytes, 0), low: word(bytes, 4), third: word(bytes, 8), fourth: word(bytes, 12) };
}

export const hexOf = ({ high, low, third, fourth }: Content): string =>
  [high, low, third, fourth].map((part) => part.toString(16).padStart(8, "0")).join("");

const word = (bytes: string, at: number): number =>
  ((bytes.charCodeAt(at) << 24) |
    (bytes.charCodeAt(at + 1) << 16) |
    (bytes.charCodeAt(at + 2) << 8) |
    bytes.charCodeAt(at + 3)) >>>
  0;

/** One label's part of a key as text, undefined when there is no value. A linked value is the row it leads to. */
export function keyText(value: unknown): string | undefined {
  if (typeof value === "string") return value === "" ? undefined : value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (isObject(value) && typeof value["crossAppRowID"] === "string") return value["crossAppRowID"];
  return canonical(value);
}

/**
 * A value as JSON with sorted keys; undefined for nothing. Absent, null, the empty text and the empty list are the same
 * nothing, because a platform may give back any of them for a field without a value. Of a linked value only the row it
 * leads to counts: the rest is the platform's copy of that row's values.
 */
export function canonical(value: unknown): string | undefined {
  switch (typeof value) {
    case "string":
      return value === "" ? undefined : JSON.stringify(value);
    case "number":
      return Number.isFinite(value) ? String(value) : undefined; // JSON has no other numbers; -0 becomes 0
    case "boolean":
      return String(value);
    case "object":
      break;
    default:
      return undefined;
  }
  if (value instanceof Date) return JSON.stringify(value);
  if (Array.isArray(value)) {
    const items = value.map((item) => canonical(item) ?? "null");
    return items.length === 0 ? undefined : `[${items.join(",")}]`;
  }
  if (!isObject(value)) return undefined;
  if (typeof value["crossAppRowID"] === "string") return `{"crossAppRowID":${JSON.stringify(value["crossAppRowID"])}}`;
  const members = Object.keys(value)
    .sort()
    .flatMap((name) => {
      const member = canonical(value[name]);
      return member === undefined ? [] : `${JSON.stringify(name)}:${member}`;
    });
  return members.length === 0 ? undefined : `{${members.join(",")}}`;
}

/** Types whose fields accept several spellings of one value. */
export const valueForms = ["date", "number", "checkbox", "boolean"] as const;
export type ValueForm = (typeof valueForms)[number];

/** Forms of values by label. */
export type ValueForms = Readonly<Record<string, ValueForm>>;

/** Furthest time from the epoch that a date can have, in milliseconds. */
const furthest = 8.64e15;

/**
 * The canonical spelling of a value in such a field: the shortest one, which most people write, so that most values
 * keep the digest they have without a form. Values that do not fit the form stay unchanged.
 */
export function inForm(form: ValueForm, value: unknown): unknown {
  switch (form) {
    case "date":
      return dateOf(value);
    case "number":
      return typeof value === "string" ? numberOf(value) : value;
    case "checkbox":
      return typeof value === "string" || typeof value === "boolean" ? listOf(String(value)) : value;
    case "boolean":
      return value === "true" ? true : value === "false" ? false : value;
  }
}

const listOf = (text: string): string[] => (text === "" ? [] : [text]);

function numberOf(text: string): unknown {
  const number = /^\s*[-+]?\d+(\.\d+)?([eE][-+]?\d+)?\s*$/.test(text) ? Number(text) : Number.NaN;
  // A larger whole number would be equal to its neighbours.
  return Number.isFinite(number) && (!Number.isInteger(number) || Number.isSafeInteger(number)) ? number : text;
}

/** A day without its midnight UTC, a time without milliseconds that are none; without a zone, what its text says. */
function dateOf(value: unknown): unknown {
  const time = timeOf(typeof value === "string" ? value.trim() : value, true);
  if (time === undefined || Math.abs(time) > furthest) return value;
  return new Date(time)
    .toISOString()
    .replace(/(T00:00:00)?\.000Z$/, (_, midnight) => (midnight === undefined ? "Z" : ""));
}

/** The values of one record by label. */
export type Cells = Readonly<Record<string, unknown>>;

/** The natural key of a record as text; undefined where one of its labels has no value. */
export function naturalKey(key: readonly string[], cells: Cells): string | undefined {
  const [only, ...more] = key;
  if (only !== undefined && more.length === 0) return keyText(cells[only]);
  const parts = key.map((label) => keyText(cells[label]));
  return parts.length === 0 || parts.includes(undefined) ? undefined : JSON.stringify(parts);
}

/** The values of a natural key as people write them: several stand behind each other. */
export const joinKey = (parts: readonly string[]): string =>
  parts.length === 1 ? parts.join() : parts.map((part) => part.replaceAll(/[\\,]/g, "\\$&")).join(", ");

/** The natural key as people write it. */
export const printableKey = (key: readonly string[], text: string): string =>
  key.length > 1 ? joinKey(JSON.parse(text) as string[]) : text;
