import { decidingKind, type Deciding } from "../../../machine/settings/deciding.ts";
import { isObject, jsonIn } from "../../../provider/contract/wire.ts";
import type { TreeEntry } from "../../../provider/files/git.ts";
import type { Note } from "../model/changeSet.ts";
import { stable } from "../model/values.ts";

/** Texts of one file on both sides; undefined where there is none. */
export interface BothTexts {
  file: string;
  before: string | undefined;
  after: string | undefined;
}

/** Flags, and those of them that do not say what changes: nothing is sealed with these. */
export interface Flagged {
  flags: Note[];
  unexplained: Note[];
}

/** A file that differs between two commits, and what it decides. */
export interface DecidingChange {
  path: string;
  kind: Deciding;
}

/** Files that decide what runs or where credentials go, and that differ between two commits. */
export function decidingChanges(
  base: ReadonlyMap<string, TreeEntry>,
  head: ReadonlyMap<string, TreeEntry>,
  folder: string,
): DecidingChange[] {
  return [...new Set([...base.keys(), ...head.keys()])].flatMap((path) => {
    const [before, after] = [base.get(path), head.get(path)];
    if (before?.id === after?.id && before?.kind === after?.kind) return [];
    const kind = decidingKind(path, folder);
    return kind ? [{ path, kind }] : [];
  });
}

const named = 10;

/**
 * Flags for changed files that no reader explains, one for each kind.
 * @param how `code` for programs, which readers understand by themselves
 */
export function unreadFlags(changes: readonly DecidingChange[], how?: "code"): Note[] {
  const byKind = Map.groupBy(
    changes.filter(({ kind }) => kind.explained === how),
    ({ kind }) => kind,
  );
  return [...byKind].map(([{ decides }, files]) => {
    const paths = files.map(({ path }) => path).sort();
    const more = paths.length > named ? ` and ${paths.length - named} more` : "";
    const verb = paths.length === 1 ? "changes and decides" : "change and decide";
    const text = `${paths.slice(0, named).join(", ")}${more} ${verb} ${decides}: read it`;
    return { text, place: paths[0], ...(how === "code" ? { code: true } : {}) };
  });
}

/** Flags for changes in package.json or its lock. */
export function packageFlags({ file, before, after }: BothTexts): Flagged {
  if (before === after) return { flags: [], unexplained: [] };
  const [was, is] = [before ?? "{}", after ?? "{}"].map(jsonIn);
  if (!isObject(was) || !isObject(is)) {
    const note = { text: `${file} decides what runs, and can't be read as JSON: read it`, place: file };
    return { flags: [note], unexplained: [note] };
  }
  const keys = listChangedKeys(was, is).flatMap((key) => (key === "packages" ? [] : [key]));
  const [old, now] = [was, is].map(({ packages }) => (isObject(packages) ? packages : {}));
  const changed = listChangedKeys(old ?? {}, now ?? {});
  const odd = changed.filter((key) => isOdd(old?.[key], now?.[key], originsIn(old ?? {})));
  const sorted = [...odd, ...changed.filter((key) => !odd.includes(key))];
  const packages = sorted.map((key) => packageChange(key, old?.[key], now?.[key]));
  const some = packages.length > named ? ` and ${packages.length - named} more` : "";
  const texts = [
    ...keys.map((key) => `${key} of ${file} changes, which decides what runs`),
    ...(packages.length > 0
      ? [`${file} changes what is installed: ${packages.slice(0, named).join("; ")}${some}`]
      : []),
    ...(keys.length + packages.length === 0 ? [layoutOnly(file)] : []),
  ];
  const flags = texts.map((text) => ({ text, place: file }));
  // More versions of the same registries are no more than that; anything else is shown, or explained by nothing.
  const hidden = { text: `${file} changes ${odd.length} packages in other ways than their versions`, place: file };
  return odd.length > named ? { flags: [...flags, hidden], unexplained: [hidden] } : { flags, unexplained: [] };
}

const resolvedOf = (entry: unknown): unknown => (isObject(entry) ? entry["resolved"] : undefined);
const originIn = (resolved: unknown): string =>
  typeof resolved === "string" && URL.canParse(resolved) ? new URL(resolved).origin : String(resolved);

/** Where the packages of a lock come from. */
const originsIn = (packages: Readonly<Record<string, unknown>>): ReadonlySet<string> =>
  new Set(Object.values(packages).map((entry) => originIn(resolvedOf(entry))));

/** True if a package becomes something else than another version from where packages come from already. */
function isOdd(before: unknown, after: unknown, known: ReadonlySet<string>): boolean {
  if (after === undefined) return false;
  if (!isObject(after) || after["hasInstallScript"] === true || !known.has(originIn(after["resolved"]))) return true;
  return isObject(before) && before["version"] === after["version"];
}

/** A change of a file whose content stays the same for every reader. */
export const layoutOnly = (file: string): string => `${file} changes in comments or layout alone`;

function packageChange(key: string, before: unknown, after: unknown): string {
  const name = key === "" ? "the project" : key.replace(/^node_modules\//, "");
  const version = (entry: unknown): string =>
    isObject(entry) ? (typeof entry["version"] === "string" ? entry["version"] : "no version") : "nothing";
  const [was, is] = [version(before), version(after)];
  if (was !== is || !isObject(before) || !isObject(after)) return `${name} from ${was} to ${is}`;
  return `${name} in ${listChangedKeys(before, after).join(", ")}`;
}

/** Keys whose values differ. */
export const listChangedKeys = (
  was: Readonly<Record<string, unknown>>,
  is: Readonly<Record<string, unknown>>,
): string[] =>
  [...new Set([...Object.keys(was), ...Object.keys(is)])].filter((key) => stable(was[key]) !== stable(is[key]));
