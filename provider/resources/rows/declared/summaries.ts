import { SourceError } from "../../../sources/read.ts";
import { type OfflineContext } from "../../model/resource.ts";
import { readCommittedFile } from "../../records/committedFile.ts";
import type { OfflineRowContext } from "./claims.ts";
import { keysOf, summarize, type Summary } from "./declaration.ts";
import type { RowTarget } from "./target.ts";

/** A seed of this run or of the last one. */
interface Seed extends RowTarget {
  resourceUrn?: string | undefined;
  digest?: string | undefined;
}

/** A file's natural keys are kept in the state within these bounds. */
const maxKeys = { rows: 1_000, characters: 16_000 };

/** True when the keys are few enough for a state. */
export const isWithinBounds = (keys: readonly string[]): boolean =>
  keys.length <= maxKeys.rows && keys.join().length <= maxKeys.characters;

/** Natural keys by which engines and people tell the rows apart: of all that the program has, of a small file's. */
export async function keysIn(inputs: Seed, { rows }: Summary, directory: string): Promise<string[] | undefined> {
  if (inputs.sensitive || (inputs.rows === undefined && rows.length > maxKeys.rows)) return undefined;
  const keys = await keysOf(inputs, directory);
  return inputs.rows !== undefined || isWithinBounds(keys) ? keys : undefined;
}

/** The rows that a seed declares: as they were checked, or read again. */
export const summaryOf = async (
  { rowClaims, directory }: Pick<OfflineRowContext, "rowClaims" | "directory">,
  inputs: Seed,
): Promise<Summary> => rowClaims.remembered(inputs.resourceUrn, inputs.digest) ?? (await summarize(inputs, directory));

/**
 * Works on the source that the state was applied from, where it is found: unchanged on disk, or in the last commit of
 * the repository that it is in. `seed` leads to it from `directory`. Undefined where it is not.
 */
export async function withLastSource<Answer>(
  { directory }: Pick<OfflineContext, "directory">,
  state: Seed,
  work: (summary: Summary, seed: Seed, directory: string) => Promise<Answer>,
): Promise<Answer | undefined> {
  const { source, rows, digest } = state;
  if (source === undefined && rows === undefined) return undefined;
  const found = await sameAs(digest, state, directory);
  if (found) return work(found, state, directory);
  if (source === undefined) return undefined;
  return readCommittedFile(directory, source, async (folder, name) => {
    const seed = { ...state, source: name };
    const summary = await sameAs(digest, seed, folder);
    return summary && work(summary, seed, folder);
  });
}

async function sameAs(digest: string | undefined, seed: Seed, directory: string): Promise<Summary | undefined> {
  try {
    const summary = await summarize(seed, directory);
    return summary.digest === digest ? summary : undefined;
  } catch (error) {
    if (error instanceof SourceError) return undefined;
    throw error;
  }
}

/** The rows that the state was applied from, where their source is found. */
export const lastSource = (context: Pick<OfflineContext, "directory">, state: Seed): Promise<Summary | undefined> =>
  withLastSource(context, state, (summary) => Promise.resolve(summary));
