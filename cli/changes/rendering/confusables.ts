import looksOf from "unhomoglyph"; // Unicode's table of confusables (UTS #39)

const scripts = [
  ...["Latin", "Cyrillic", "Greek", "Armenian", "Cherokee", "Coptic", "Georgian", "Hebrew", "Arabic", "Devanagari"],
  ...["Thai", "Hangul", "Hiragana", "Katakana", "Han", "Bopomofo", "Lisu", "Deseret", "Canadian_Aboriginal", "Runic"],
].map((name) => ({ name, pattern: new RegExp(`\\p{Script=${name}}`, "u") }));

/** Scripts that people write in one word. */
const together = [
  ["Han", "Hiragana", "Katakana"],
  ["Han", "Hangul"],
  ["Han", "Bopomofo"],
];

const looksLatin = /^[\x21-\x7e]+$/;

/**
 * True for a text that may be taken for another: a word mixes scripts that nobody mixes, or every letter that is not
 * Latin looks Latin. A text with other letters of such a script is unmistakable.
 */
export function isConfusable(text: string): boolean {
  const composed = text.normalize("NFC");
  if (/^[\x20-\x7e]*$/.test(composed)) return false;
  if (composed.split(/[^\p{L}\p{M}]+/u).some(mixesScripts)) return true;
  const foreign = Array.from(composed).filter((letter) =>
    /(?!\p{Script=Latin})\p{L}|[\uff21-\uff5a\u{1d400}-\u{1d7ff}]/u.test(letter),
  );
  return (
    foreign.length > 0 &&
    foreign.every((letter) => looksLatin.test(looksOf(letter)) || looksLatin.test(letter.normalize("NFKC")))
  );
}

function mixesScripts(word: string): boolean {
  const found = scripts.filter(({ pattern }) => pattern.test(word)).map(({ name }) => name);
  return found.length > 1 && !together.some((group) => found.every((name) => group.includes(name)));
}
