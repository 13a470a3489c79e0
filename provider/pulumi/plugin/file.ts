import { answerRemoved } from "../../../machine/removed.ts";
import { printableLine } from "../../../platform/messages/text.ts";

/** The path among the arguments of an Environment. Throws for what is no argument of it. */
export function fileAmong(args: Readonly<Record<string, unknown>>): string {
  for (const name of Object.keys(args).filter((each) => each !== "file" && args[each] !== undefined)) {
    const gone = answerRemoved("inputs", `Environment.${name}`);
    throw new Error(gone ?? `${printableLine(name)} is no input of an Environment: it has file`);
  }
  const { file } = args;
  if (typeof file !== "string") throw new Error("an Environment has a file, by its path as it stands");
  return file;
}
