import type { z } from "zod";
import { answerRemoved } from "../../machine/removed.ts";
import { lostKey } from "../../platform/contract/wire.ts";
import { sentences, firstLines } from "../../platform/messages/text.ts";
import type { Profile } from "../../platform/profile/profile.ts";
import type { Seed } from "../../platform/seed/schema.ts";

/** A wrong seed or profile. `message` has one line for each mistake, with its place. */
export class SeedError extends Error {
  override readonly name = "SeedError";
}

/** Reads seeds and profiles of files. Whoever starts an emulator hands it in: it knows how such files extend each other. */
export interface SeedFiles {
  /** `directory` is the folder of the program that names the file. Throws a SeedError. */
  seed: (file: string, directory?: string) => Seed;
  profile: (file: string, directory?: string) => Profile | undefined;
}

const noFiles = (file: string): never => {
  throw new SeedError(`${file}: this emulator reads no files; give the content`);
};
/** For emulators whose seeds are objects. */
export const noSeedFiles: SeedFiles = { seed: noFiles, profile: noFiles };

/** The content by its schema; throws a SeedError. */
export function checked<Content>(schema: z.ZodType<Content>, content: unknown, what: string): Content {
  const lost = lostKey(content);
  if (lost) throw new SeedError(`${what}: ${lost.join(".")}: a key can't have this name`);
  const result = schema.safeParse(content, sentences);
  if (result.success) return result.data;
  const mistakes = result.error.issues.flatMap((issue) => {
    if (issue.code !== "unrecognized_keys") return { path: issue.path, text: issue.message };
    const isHabit = issue.path.at(-1) === "habits";
    return issue.keys.map((key) => ({
      path: [...issue.path, key],
      text: (isHabit ? answerRemoved("habits", key) : undefined) ?? "is not known here",
    }));
  });
  const lines = mistakes.map(({ path, text }) => [
    what,
    ...(path.length > 0 ? [path.map(String).join(".")] : []),
    text,
  ]);
  throw new SeedError(firstLines(lines.map((line) => line.join(": "))).join("\n"));
}
