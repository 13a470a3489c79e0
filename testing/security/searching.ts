import { expect } from "@jest/globals";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Project } from "../harness/project.ts";
import { spellings } from "./spellings.ts";

/** Runs commands of a project, and keeps what they print and what is in its files then, but for those that may have secrets. */
export function watching(project: () => Project, mayHave: RegExp) {
  /** Text → where it was read. */
  const seen = new Map<string, string>();
  const run = async (status: number, command: string, ...flags: string[]): Promise<string> => {
    const ended = await project().run(command, ...flags);
    const files = (await texts(project().folder)).filter(([file]) => !mayHave.test(file));
    for (const [place, text] of [[`${command} ${flags.join(" ")}`, ended.output], ...files] as const)
      seen.set(text, place);
    expect({ command, status: ended.status, output: ended.output }).toMatchObject({ status });
    return ended.output;
  };
  return { seen, run };
}

/** The text of every file under a folder, by path. */
async function texts(folder: string): Promise<[string, string][]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Promise.all(
    files.map(async (file): Promise<[string, string]> => [file, await readFile(file, "latin1").then(fromLatin)]),
  );
}

const fromLatin = (text: string): string => Buffer.from(text, "latin1").toString("utf8");

/** All that would tell a secret: its spellings, and base64 of the middle of it, which begins at any of three places. */
function tellingOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const shifted = [0, 1, 2].map((shift) => bytes.subarray(shift, bytes.length - ((bytes.length - shift) % 3)));
  return [
    ...Object.values(spellings).map((spell) => spell(secret)),
    ...shifted.flatMap((part) => [part.toString("base64"), part.toString("base64url")]),
  ];
}

/** Where secrets can be read: place and secret. */
export function secretsIn(places: ReadonlyMap<string, string>, secrets: readonly string[]): string[] {
  const telling = secrets.map((secret) => ({ secret, spelled: tellingOf(secret) }));
  return [...places].flatMap(([text, place]) =>
    telling.flatMap(({ secret, spelled }) =>
      spelled.some((one) => text.includes(one)) ? [`${place}: ${secret}`] : [],
    ),
  );
}
