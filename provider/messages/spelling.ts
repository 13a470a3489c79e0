/** The word that another is a misspelling of, if any. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  if (word.length > 200) return undefined; // nobody misspells that, and each letter takes its time
  return known
    .map((each) => ({ each, distance: distance(word.toLowerCase(), each.toLowerCase()) }))
    .filter(({ each, distance }) => distance <= Math.max(1, Math.floor(Math.min(word.length, each.length) / 3)))
    .toSorted((a, b) => a.distance - b.distance)[0]?.each;
}

/** Edits between two words: letters added, removed, changed, or swapped with their neighbour. */
function distance(from: string, to: string): number {
  const rows = [Array.from({ length: to.length + 1 }, (_, column) => column)];
  const cost = (row: number, column: number): number => rows[row]?.[column] ?? 0;
  for (let row = 1; row <= from.length; row++) {
    rows.push([row]);
    for (let column = 1; column <= to.length; column++) {
      const changed = from[row - 1] === to[column - 1] ? 0 : 1;
      const swapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      rows[row]?.push(
        Math.min(
          cost(row - 1, column) + 1,
          cost(row, column - 1) + 1,
          cost(row - 1, column - 1) + changed,
          swapped ? cost(row - 2, column - 2) + 1 : Infinity,
        ),
      );
    }
  }
  return cost(from.length, to.length);
}
