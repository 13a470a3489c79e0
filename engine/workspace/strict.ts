import {
  type Document,
  type ErrorCode,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Pair,
  type Scalar,
  visit,
} from "yaml";
import { parseBounded } from "../../machine/bounded.ts";
import { BoundError } from "../../machine/bounds.ts";

// Project and stack files have several readers: the Pulumi CLI, the embedded engine, reports. A file is believed
// only in a form that all of them read alike: one document of plain maps, in which a line is a line for everybody.

/** Why a file of settings is not believed: a line, and a sentence without its content. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
  readonly line: number;
  constructor(line: number, reason: string) {
    super(reason);
    this.line = line;
  }
}

const otherBreaks = /[\u0085\u2028\u2029\v\f]|\r(?!\n)/;
const unprintable = /[\0-\x08\x0e-\x1f\x7f-\x9f\ufeff\ufffd\ufffe\uffff]/;

/** Mistakes in the text itself, whatever it means. The first matching pattern is reported. */
const forms: readonly [pattern: RegExp, reason: string][] = [
  [otherBreaks, "has a line break that some readers do not take for one (NEL, LS, PS, a lone CR); use LF"],
  [unprintable, "has a character that is not printable, or is not in UTF-8; remove it"],
  [/^[ ]*\t|[:?,-][ ]*\t|\t[ ]*#/m, "has a tab, which readers take differently; use spaces"],
  [/^%/m, "has a directive; remove the line"],
  [/^\.\.\.(?=\s|$)/m, "has a mark for the end of a document; remove the line"],
  [/^---[ ]*[^\s#]|\n---(?=\s|$)[^]*\n---(?=\s|$)/, "is more than one document, or has text behind ---; keep one"],
];

/** Parses a file in the form that all readers understand alike; every value is a text, as written. Throws a SettingsError. */
export function strictDocument(text: string): Document {
  const content = text.startsWith("\ufeff") ? text.slice(1) : text; // every reader skips it
  for (const [pattern, reason] of forms) {
    const found = pattern.exec(content);
    if (found) throw new SettingsError(content.slice(0, found.index + found[0].length).split("\n").length, reason);
  }
  const lineCounter = new LineCounter();
  const document = parsed(content, lineCounter);
  const refuse = (offset: number | undefined, reason: string): never => {
    throw new SettingsError(Math.max(1, lineCounter.linePos(offset ?? 0).line), reason);
  };
  const [error] = [...document.errors, ...document.warnings];
  // The parser may quote what stands there.
  if (error) refuse(error.pos[0], `is not valid YAML: ${reasons[error.code] ?? "correct it"}`);
  refuseOtherForms(document, refuse);
  return document;
}

/** By the parser's codes of errors. */
const reasons: Partial<Record<ErrorCode, string>> = {
  BAD_INDENT: "this line is indented wrongly",
  MISSING_CHAR: "a sign is missing here, such as a bracket or a quotation mark",
  MULTILINE_IMPLICIT_KEY: "a key stands on one line; is the colon at the wrong place?",
  MULTIPLE_DOCS: "a second document begins here; keep one",
  TAB_AS_INDENT: "a line begins with a tab; use spaces",
  UNEXPECTED_TOKEN: "something stands here that does not belong here; put text into quotation marks",
};

function parsed(text: string, lineCounter: LineCounter): Document.Parsed {
  try {
    return parseBounded(text, { schema: "failsafe", keepSourceTokens: true, lineCounter });
  } catch (error) {
    if (error instanceof BoundError) throw new SettingsError(lineCounter.linePos(error.offset).line, error.message);
    throw error;
  }
}

function refuseOtherForms(document: Document, refuse: (offset: number | undefined, reason: string) => never): void {
  visit(document, {
    Node: (_, node, path) => {
      const [offset] = node.range ?? [];
      if (isAlias(node) || node.anchor !== undefined) refuse(offset, "has an anchor or an alias; write the value out");
      if (node.tag !== undefined) refuse(offset, tagged);
      if (isMap(node)) refuseRepeated(node.items, refuse);
      if (!isScalar(node)) return;
      refuseText(node, refuse);
      const isInFlow = path.some((above) => isCollection(above) && above.flow === true);
      if (isInFlow && node.type === "PLAIN" && /^:|\?/.test(node.source ?? ""))
        refuse(offset, "has a : or ? in front of or in a text between brackets; put it into quotation marks");
    },
    Pair: (_, pair, path) => {
      const { key } = pair;
      if (!isScalar<string>(key)) return refuse(undefined, "has a key that is not text; name it in one word");
      const name = key.value;
      const [offset] = key.range ?? [];
      if (key.tag !== undefined) refuse(offset, tagged);
      if (name === "<<") refuse(offset, "has a merge key (<<); write the values out");
      if (name !== name.trim()) refuse(offset, "has a key with blanks at its ends; remove them");
      if (name === "__proto__") refuse(offset, "has a key of a name that is not read; name it otherwise");
      if (key.type === "PLAIN" && readPlainScalar(name) !== name)
        refuse(offset, "has a key that is not text; put it into quotation marks");
      const marks = pair.srcToken?.start ?? [];
      if (marks.some(({ type }) => type === "explicit-key-ind"))
        refuse(offset, "has a key behind ?; leave out the sign");
      const behind = pair.srcToken?.sep ?? [];
      const colon = behind.findIndex(({ type }) => type === "map-value-ind");
      if (colon < 0) refuse(offset, "has a key without a colon; add it");
      const isInBrackets = path.some((above) => isCollection(above) && above.flow === true);
      if (isInBrackets && key.type === "PLAIN" && !/^(space|newline)$/.test(behind[colon + 1]?.type ?? ""))
        refuse(offset, "has no space behind a colon between brackets; add it");
      if (behind.slice(0, colon).some(({ type }) => type === "newline") || writtenOf(key).includes("\n"))
        refuse(offset, "has a key over several lines; write it on one");
    },
  });
}

function refuseRepeated(items: readonly Pair[], refuse: (offset: number | undefined, reason: string) => never): void {
  const seen = new Set<string>();
  for (const { key } of items) {
    const { value, range } = key as Scalar<string>; // any other key is refused where it stands
    if (seen.size === seen.add(value).size) refuse(range?.[0], "has a key twice; remove one");
  }
}

const writtenOf = ({ srcToken }: Scalar): string => (srcToken && "source" in srcToken ? srcToken.source : "");

const tagged = "has a tag (!); put text into quotation marks instead";
const noNumber = "has a number that can't be kept; put it into quotation marks";

function refuseText(scalar: Scalar, refuse: (offset: number, reason: string) => never): void {
  const { value, source = "", type, range } = scalar;
  const offset = range?.[0] ?? 0;
  const written = writtenOf(scalar);
  if (type === "QUOTE_DOUBLE" && /(?<!\\)(\\\\)*\\(\/|u[dD][89a-fA-F])/.test(written))
    refuse(offset, "has an escape that some readers do not know (\\/, \\ud83d); write the character itself");
  if (type === "PLAIN" && readPlainScalar(source) === undefined)
    refuse(offset, "has a date or a number that readers take differently (0777, 1_000); put it into quotation marks");
  if (type === "PLAIN" && /^[-+]?\.(inf|nan)$/i.test(source)) refuse(offset, noNumber);
  if (type === "PLAIN" && Math.abs(Number(readPlainScalar(source))) === Infinity) refuse(offset, noNumber);
  if (type?.startsWith("BLOCK") === true && !written.endsWith("\n"))
    refuse(offset, "ends in a text behind | or > without a line feed; add it");
  if (type?.startsWith("BLOCK") === true && String(value).startsWith("\n"))
    refuse(offset, "has a text that begins with an empty line behind | or >; put it into quotation marks");
}

/** A value as Pulumi reads it. */
export type GoValue = boolean | null | number | bigint | string | GoValue[] | { [key: string]: GoValue };

/** The value of a node of a strict document. */
function valueOf(node: unknown): GoValue {
  if (isSeq(node)) return node.items.map(valueOf);
  if (isMap(node)) return Object.fromEntries(node.items.map(({ key, value }) => [String(key), valueOf(value)]));
  if (!isScalar(node)) return null;
  return node.type === "PLAIN" ? (readPlainScalar(node.source ?? "") ?? null) : String(node.value);
}

const words: Record<string, boolean | null> = {
  ...{ true: true, True: true, TRUE: true, false: false, False: false, FALSE: false },
  ...{ "": null, "~": null, null: null, Null: null, NULL: null },
};
const decimal = /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/;

/** Reads an unquoted text; undefined for a date, and for a number that is not written in plain digits: see {@link refuseText}. */
function readPlainScalar(text: string): boolean | null | number | bigint | string | undefined {
  if (Object.hasOwn(words, text)) return words[text];
  if (/^\d{4}-\d{1,2}-\d{1,2}([Tt ]|$)/.test(text)) return undefined;
  const digits = text.replaceAll("_", "");
  if (/^[-+]?0([xX][0-9a-fA-F]+|[bB][01]+|[oO]?[0-7]+)$/.test(digits)) return undefined;
  if (!decimal.test(digits)) return text;
  if (digits !== text) return undefined;
  if (/[.eE]/.test(text)) return Number(text);
  const whole = BigInt(text.replace(/^\+/, ""));
  return whole >= -(2n ** 63n) && whole < 2n ** 64n ? whole : Number(text);
}

/** The content of a project or stack file as Pulumi reads it; what is not in the common form throws a SettingsError. */
export const readSettings = (text: string): Record<string, GoValue> => asMap(valueOf(strictDocument(text).contents));

/** The content of a stack's file, whose own keys hold texts. Throws a SettingsError. */
export function stackContent(document: Document): Record<string, GoValue> {
  const content = asMap(valueOf(document.contents));
  for (const key of ["encryptionsalt", "encryptedkey", "secretsprovider"]) {
    const value = content[key];
    if (value !== undefined && value !== null && typeof value !== "string")
      throw new SettingsError(1, `has another value than a text at ${key}; put it into quotation marks`);
  }
  const { config = null } = content;
  if (config !== null && (typeof config !== "object" || Array.isArray(config)))
    throw new SettingsError(1, "has no map at config; write keys with their values below it");
  const names = Object.keys(config ?? {}).map((key) => key.replace(/^([^:]*):config:([^:]*)$/, "$1:$2"));
  if (new Set(names).size < names.length)
    throw new SettingsError(1, "has a key of config in two spellings (a:b and a:config:b); remove one");
  return content;
}

/** A map, or nothing, which is an empty one. */
function asMap(value: GoValue): Record<string, GoValue> {
  if (value === null) return {};
  if (typeof value !== "object" || Array.isArray(value)) throw new SettingsError(1, "must be a map");
  return value;
}
