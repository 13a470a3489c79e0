/** Problems of one kind that are told at once: nobody reads more of them. */
export const mostTold = 50;

/** The first lines, and how many there are beside. */
export const told = (lines: readonly string[]): string[] =>
  lines.length > mostTold ? [...lines.slice(0, mostTold), `and ${lines.length - mostTold} more`] : [...lines];
