/** Matchers that are one word: what a value must be, where it is not known. */
export const words = {
  $any: "anything that is there",
  $absent: "nothing: the key is not there",
  $text: "text that is not empty",
  $number: "a number",
  $boolean: "true or false",
  $list: "a list",
  $object: "an object",
} as const;

/** Matchers with a value, by the one key of an object. */
export const operators = {
  $match: "text of this regular expression",
  $length: "a list or text of so many",
  $contains: "a list with an item that matches, or a text with this part",
  $lacks: "a list without an item that matches, or a text without this part",
  $items: "a list of items that match these, in any order",
  $value: "an object with a value that matches, under whatever key",
  $exactly: "an object that matches and has no other keys",
  $either: "what matches one of these",
  $all: "what matches all of these",
  $not: "what does not match this",
  $least: "a number of at least this",
  $recent: "a time in milliseconds, no further from now than this many",
} as const;

export type MatchWord = keyof typeof words;
export type MatchOperator = keyof typeof operators;

export const isWord = (value: unknown): value is MatchWord => typeof value === "string" && Object.hasOwn(words, value);
export const isOperator = (key: string): key is MatchOperator => Object.hasOwn(operators, key);
