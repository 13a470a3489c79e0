import { stripVTControlCharacters } from "node:util";
// Select Graphic Rendition (ECMA-48 8.3.117), the one control sequence that only colours.
const colorSequence = new RegExp(`(${String.fromCharCode(0x1b)}\\[[\\d;:]*m)`);
const reset = `${String.fromCharCode(0x1b)}[0m`;
// Line separators and bidirectional overrides rearrange the text around them, and invisible characters hide differences:
// they are escaped like controls. Joiners between letters or emoji are part of what is seen.
const disturbing =
  /[\p{Cc}\u2028\u2029\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\u180e\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]|(?<![\p{L}\p{M}\p{Extended_Pictographic}\ufe0f])[\u200c\u200d]/gu;

/** Makes a foreign text harmless for a terminal; line breaks, tabs and allowed colours stay. */
export function printable(text: string, color: boolean): string {
  const parts = text.replace(/\r\n?/g, "\n").split(colorSequence);
  // Splitting by a group puts the separators at odd places.
  const clean = parts.map((part, i) => (i % 2 === 1 ? (color ? part : "") : escaped(stripVTControlCharacters(part))));
  return clean.join("") + (color && parts.length > 1 ? reset : "");
}

/** Writes characters as their codes, as JSON does. */
function escaped(text: string): string {
  return text.replace(disturbing, (chars) => {
    if (chars === "\n" || chars === "\t") return chars;
    return chars.replace(/[^]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
  });
}

/** The first line that is not blank, for a row of a table. */
export function firstLine(text: string): string {
  const lines = printable(text, false).replace(/\t/g, " ").split("\n");
  return (lines.find((line) => line.trim() !== "") ?? "").trim();
}

/**
 * Shortens the type of a resource to what people write: `pulumi-nodejs:dynamic/microapps:Team`, `microapps:index:Team`
 * and `microapps:index/team:Team` become `microapps:Team`.
 */
export function shortType(type: string): string {
  const [pkg = "", module = "", ...rest] = oneLine(type).split(":");
  const name = rest.join(":");
  if (name === "") return oneLine(type);
  if (pkg === "pulumi-nodejs" && module.startsWith("dynamic/")) return `${module.slice("dynamic/".length)}:${name}`;
  const [place = "", file] = module.split("/");
  const isOwnFile = file !== undefined && file.toLowerCase() === name.toLowerCase();
  const kept = isOwnFile ? place : module;
  return kept === "index" || kept === "" ? `${pkg}:${name}` : `${pkg}:${kept}:${name}`;
}

/** Makes a name or an ID printable on one line. */
export const oneLine = (text: string): string => printable(text, false).replace(/\n/g, "\\n").replace(/\t/g, "\\t");

/** Writes JSON for a terminal or a log: characters that no terminal shows are escaped, which means the same. */
export const printableJson = (value: unknown, indent?: number): string => escaped(JSON.stringify(value, null, indent));

/** True if a pipeline reads the output and may take one of its lines for a command. */
export const isPipeline = (environment: NodeJS.ProcessEnv): boolean =>
  environment["CI"] === "true" || !!environment["GITHUB_ACTIONS"] || !!environment["TF_BUILD"];

/**
 * Disarms what GitHub (`::`, `##[`), Azure (`##vso[`) or GitLab (`/`) would carry out as a command: after blanks too,
 * and those of Azure anywhere in a line.
 */
export const withoutCommands = (text: string): string =>
  text.replace(/^([^\S\n]*)(?=::|\/)/gm, "$1|").replace(/##(?=(vso)?\[)/gi, "#|#");

/** Writes text to a stream, in a pipeline without what that would take for commands. */
export const writeOn =
  (stream: NodeJS.WritableStream, environment: NodeJS.ProcessEnv) =>
  (text: string): void =>
    void stream.write(isPipeline(environment) ? withoutCommands(text) : text);
