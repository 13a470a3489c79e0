import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runGit } from "../../provider/files/git.ts";
import { isMerged } from "./mergeTexts.ts";
import { projectFolders, seedFilesIn } from "./seedFiles.ts";

const attributesFile = ".gitattributes";

/** The name of the driver in Git's configuration. */
const driver = "microapps";

/** The outcome of an installation. */
export interface Installed {
  /** Lines that were added to .gitattributes; none where all stood there. */
  added: string[];
  /** The command that Git runs. */
  command: string;
}

/**
 * Makes Git merge files of rows by their keys: all CSV and NDJSON files of a project, and the JSON files of its seeds.
 * @param project the folder of a project that Git may not track yet, from the top of the repository on
 * @param words the command, word by word
 */
export async function installDriver(root: string, project: string, words: readonly string[]): Promise<Installed> {
  const folders = [...new Set([project, ...(await projectFolders(root))])].sort();
  const patterns = folders.flatMap((folder) =>
    ["*.csv", "*.ndjson", "*.jsonl"].map((name) => (folder === "" ? name : `${folder}/**/${name}`)),
  );
  const files = seedFilesIn(root, folders)
    .map(({ path }) => path)
    .filter((path) => isMerged(path) && !path.startsWith("../") && !isCovered(path, folders));
  const lines = [...new Set([...patterns, ...files])].map((name) => `${attributeName(name)} merge=${driver}`);
  const path = join(root, attributesFile);
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  const known = new Set(text.split(/\r?\n/).map((line) => line.trim()));
  const added = lines.filter((line) => !known.has(line));
  const lineEnd = text.includes("\r\n") ? "\r\n" : "\n";
  if (added.length > 0) {
    const begun = text === "" || text.endsWith("\n") ? text : text + lineEnd;
    writeFileSync(path, begun + added.map((line) => line + lineEnd).join(""));
  }
  const command = [...words.map(quoteWord), "merge-driver %O %A %B %P %L"].join(" ");
  await runGit(root, "config", "--local", `merge.${driver}.name`, "rows by their natural key");
  await runGit(root, "config", "--local", `merge.${driver}.driver`, command);
  return { added, command };
}

/** True if a pattern of all such files has this one. */
const isCovered = (path: string, folders: readonly string[]): boolean =>
  !path.endsWith(".json") && folders.some((folder) => folder === "" || path.startsWith(`${folder}/`));

/** A name as .gitattributes has it. */
const attributeName = (name: string): string => (/[\s"]/.test(name) ? JSON.stringify(name) : name);

/** A word as a shell takes it: Git runs the command through one. */
const quoteWord = (word: string): string => (/^[\w./@:-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);
