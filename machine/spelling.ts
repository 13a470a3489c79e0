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
