const marks = ["<<<<<<< ", ">>>>>>> "];

/** Advice about a conflict. */
export const conflict =
  "a merge left its conflict here: keep the lines of one side, and delete the marks (<<<<<<<, =======, >>>>>>>)";

/** True where the mark of a conflict stands at a place. */
export const isConflictAt = (text: string, at: number): boolean => marks.some((mark) => text.startsWith(mark, at));

/** Finds the first line that begins with the mark of a conflict, counted from 0; undefined where none does. */
export function findConflict(text: string): number | undefined {
  const found = marks.flatMap((mark) => {
    if (text.startsWith(mark)) return [0];
    const at = text.indexOf(`\n${mark}`);
    return at < 0 ? [] : [at + 1];
  });
  return found.length === 0 ? undefined : text.slice(0, Math.min(...found)).split("\n").length - 1;
}
