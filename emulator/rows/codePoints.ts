// UTF-16 puts the surrogates of the highest code points before U+E000 to U+FFFF; SQLite and MongoDB compare UTF-8.
const place = (unit: number): number => (unit >= 0xe000 ? unit - 0x800 : unit >= 0xd800 ? unit + 0x2000 : unit);

/** Compares texts by their code points, as their bytes in UTF-8 compare: below 0, 0 or above 0. */
export function compareTexts(one: string, other: string): number {
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at++) {
    const [a, b] = [one.charCodeAt(at), other.charCodeAt(at)];
    if (a !== b) return place(a) - place(b);
  }
  return one.length - other.length;
}
