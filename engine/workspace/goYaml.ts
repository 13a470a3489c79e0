import { type Document, isMap, isScalar, isSeq } from "yaml";

/** A value as Pulumi reads it. */
export type GoValue = boolean | null | number | bigint | string | GoValue[] | { [key: string]: GoValue };

/**
 * The content of a document of texts, with the rules of Pulumi's YAML library for Go, which differ from YAML 1.2: a bare
 * date is a time, `0777` is octal, `1_000` is a thousand. No npm library has these rules.
 */
export function goValue({ contents }: Document): GoValue {
  return valueOf(contents);
}

function valueOf(node: unknown): GoValue {
  if (isSeq(node)) return node.items.map(valueOf);
  if (isMap(node)) return Object.fromEntries(node.items.map(({ key, value }) => [String(key), valueOf(value)]));
  if (!isScalar(node)) return null;
  return node.type === "PLAIN" ? readPlainScalar(node.source ?? "") : String(node.value);
}

const words: Record<string, boolean | null> = {
  ...{ true: true, True: true, TRUE: true, false: false, False: false, FALSE: false },
  ...{ "": null, "~": null, null: null, Null: null, NULL: null },
};
const decimal = /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/;

/** Reads an unquoted text. */
export function readPlainScalar(text: string): boolean | null | number | bigint | string {
  if (Object.hasOwn(words, text)) return words[text] ?? null;
  if (!/^[-+.0-9]/.test(text)) return text;
  const time = /^\d{4}-/.test(text) ? timeOf(text) : undefined;
  if (time !== undefined) return time;
  if (text.startsWith(".")) return decimal.test(text) ? Number(text) : text;
  const plain = text.replaceAll("_", "");
  const whole = /^([-+]?)(0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)$/.exec(plain);
  if (whole) {
    const [, sign = "", digits = ""] = whole;
    const size = BigInt(/^0[0-7]/.test(digits) ? `0o${digits.slice(1)}` : digits);
    const value = sign === "-" ? -size : size;
    if (value >= -(2n ** 63n) && value < 2n ** 64n) return value;
  }
  return decimal.test(plain) ? Number(plain) : text;
}

/** Writes a time as Go prints it: `2020-01-01 10:11:12 +0000 UTC`. */
function timeOf(text: string): string | undefined {
  const found =
    /^(\d{4})-(\d{1,2})-(\d{1,2})(?:(?:[Tt]| +)(\d{1,2}):(\d{1,2}):(\d{1,2})(\.\d{1,9})?(Z|[-+]\d\d:\d\d)?)?$/.exec(
      text,
    );
  if (!found) return undefined;
  const [, year = "", month = "", day = "", hour = "0", minute = "0", second = "0", fraction = "", zone] = found;
  const separated = /\d[Tt]\d/.test(text);
  // With a `T` the zone has to be there, with a blank it must not.
  if (found[4] !== undefined && separated !== (zone !== undefined)) return undefined;
  const date = new Date(
    Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second)),
  );
  const two = (part: string): string => part.padStart(2, "0");
  const written = `${year}-${two(month)}-${two(day)} ${two(hour)}:${two(minute)}:${two(second)}`;
  // The thirtieth of February and the like are plain texts.
  if (date.toISOString().slice(0, 19).replace("T", " ") !== written) return undefined;
  const offset = zone === undefined || zone === "Z" ? "+0000 UTC" : `${zone.replace(":", "")} ${zone.replace(":", "")}`;
  return `${written}${fraction.replace(/\.?0+$/, "")} ${offset}`;
}
