/** Problems of one kind that are reported at once: nobody reads more of them. */
export const maxReported = 50;

/** The first lines, and how many there are beside. */
export const firstLines = (lines: readonly string[]): string[] =>
  lines.length > maxReported ? [...lines.slice(0, maxReported), `and ${lines.length - maxReported} more`] : [...lines];
