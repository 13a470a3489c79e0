import type { RowData } from "../../../provider/contract/values.ts";
import { isObject } from "../../../provider/contract/wire.ts";
import { maxMegabytesOfLayer, textIfAny } from "../../../provider/files/files.ts";
import { parse, toPlainValue } from "../../../provider/layers/document.ts";
import { keyText } from "../../../provider/reconcile/digests.ts";
import type { EnvironmentEntry } from "../base/environments.ts";
import { readDeclaration } from "../model/source.ts";

/** The reason for leaving something in the files, in one sentence. */
export class PullRefusal extends Error {
  override readonly name = "PullRefusal";
}

/** True if a content has something at a path. */
export const has = (content: unknown, [step, ...rest]: readonly string[]): boolean =>
  step === undefined ||
  (isObject(content) && Object.hasOwn(content, step) && (rest.length === 0 || has(content[step], rest)));

/** True if a row has these values of its key. */
export const isRowOf = (row: unknown, where: RowData): boolean =>
  isObject(row) && Object.entries(where).every(([label, value]) => keyText(row[label]) === keyText(value));

/** The content of one file, without what it extends; undefined where it can't be read. */
export function contentOf(folder: string, file: string): unknown {
  const text = textIfAny(folder, file, maxMegabytesOfLayer);
  const value = text === undefined ? undefined : parse(text, file, () => undefined);
  return value && toPlainValue(value);
}

/** Each file that another environment has, and which one. */
export function filesOfOthers(
  folder: string,
  { name }: Pick<EnvironmentEntry, "name">,
  others: readonly EnvironmentEntry[],
): Map<string, string> {
  const shared = new Map<string, string>();
  for (const other of others) {
    if (other.name === name) continue;
    const { declared, files, problems } = readDeclaration(other.file, folder);
    if (!declared && problems.length > 0)
      throw new PullRefusal(
        `nobody can tell which files ${other.name} shares with ${name}: ${other.file} can't be read: ${problems[0]?.text ?? ""}`,
      );
    const sources = Object.values(declared?.declaration.seeds ?? {}).flatMap(({ source }) => source ?? []);
    for (const each of [...files, ...sources]) if (!shared.has(each)) shared.set(each, other.name);
  }
  return shared;
}
