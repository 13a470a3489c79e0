/** Finds the known word that `word` most likely misspells; undefined when none is near. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  if (word.length > 200) return undefined; // nobody misspells that, and each letter takes its time
  return known
    .map((each) => ({ each, edits: edits(word.toLowerCase(), each.toLowerCase()) }))
    .filter(({ each, edits }) => edits <= Math.max(1, Math.floor(Math.min(word.length, each.length) / 3)))
    .toSorted((a, b) => a.edits - b.edits)[0]?.each;
}

/** Counts the letters to add, remove, change or swap with their neighbour (optimal string alignment distance). */
function edits(from: string, to: string): number {
  let before: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const now = [row];
    for (let column = 1; column <= to.length; column++) {
      const changed = (last[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1);
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      now.push(
        Math.min(
          (last[column] ?? 0) + 1,
          (now[column - 1] ?? 0) + 1,
          changed,
          swapped ? (before[column - 2] ?? 0) + 1 : Infinity,
        ),
      );
    }
    [before, last] = [last, now];
  }
  return last[to.length] ?? 0;
}

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
