import { spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, relative, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { gitFlags, toGitEnvironment } from "../files/git.ts";
import type { OfflineContext } from "../resources/resource.ts";
import { keysOf, summarize, type Summary } from "./declaration.ts";
import type { Digest } from "./digests.ts";
import type { Seed, SeedInputs, SeedState, KeptState } from "./inputs.ts";
import { difference, encodeLedger, inFailure, ledgerOf, type Ledger } from "./ledger.ts";
import type { RowOptions } from "./plan.ts";
import { RowSet } from "./rowSet.ts";
import { SourceError } from "./source/read.ts";

export const optionsOf = ({ mode, onConflict, adopt = false, maxRemovals }: SeedInputs): RowOptions => ({
  mode,
  onConflict,
  adopt,
  maxRemovals,
});

export function outputsOf<Inputs extends SeedInputs>(
  { rows: inline, keys, ...inputs }: Inputs,
  labels: string[],
  ledger: Ledger,
  more: Omit<KeptState, "rowCount" | "ledger" | "labels" | "unfinished">,
): Inputs & KeptState {
  const outputs = {
    ...inputs,
    rowCount: ledger.count,
    ledger: encodeLedger(ledger),
    labels,
    ...more,
  };
  // Those of a ledger that has other rows would name the wrong ones.
  const named = keys && isWithinBounds(keys) && ledger.count === keys.length ? { ...outputs, keys } : outputs;
  return named as unknown as Inputs & KeptState; // without rows, which no output holds, and with keys where they fit
}

/** Rows that a state lists, 44 KB, and an error can carry, 1.4 KB. Of more all count that the account of a run did not make. */
export const mostExisting = { inState: 4_096, inFailure: 128 };

/** Keys of unseen rows that an error can carry beside those of the ledger, which take three times as much. */
export const mostUnseen = (owned: number): number => mostExisting.inFailure + 3 * Math.max(0, inFailure.rows - owned);

/** Answers which rows a state says to have existed before, by their keys. */
export function existingIn({ existing, found, adopt }: Partial<KeptState & SeedInputs>): (key: Digest) => boolean {
  const text = adopt ? undefined : (existing ?? found);
  if (text === undefined) return () => false;
  const kind = text.split(":", 1)[0];
  // A sketch of an earlier version, or rows that nothing lists: those that others made.
  if (kind !== "keys" && kind !== "made") return () => true;
  const keys = decodeKeys(text);
  return (key) => keys.has(key) === (kind === "keys");
}

/**
 * Rows that the last run sent and did not see, by their keys: in the state, or those of its source that the ledger lacks.
 * Undefined where neither tells. Where the same rows are wanted, those that are there are as declared.
 */
export async function unseenIn(
  context: Pick<OfflineContext, "directory">,
  ledger: Ledger,
  state: SeedState | undefined,
  now?: Summary,
): Promise<RowSet | undefined> {
  const { unseen = "keys:1:", digest } = state ?? {};
  if (unseen.startsWith("keys")) return decodeKeys(unseen);
  if (!state || now?.digest === digest) return new RowSet();
  const rows = (await lastSource(context, state))?.rows;
  const change = rows && difference(rows, ledger);
  if (!rows || !change?.exact) return undefined;
  const lacking = new RowSet();
  for (const index of change.added) lacking.add(rows.key(index));
  return lacking;
}

function decodeKeys(text: string): RowSet {
  const [, version, encoded = ""] = text.split(":");
  const bytes = Buffer.from(encoded, "base64");
  if (version !== "1" || bytes.length % 8 !== 0)
    throw new RangeError("what the state says of rows is damaged, or of a newer version: update the package");
  const keys = new RowSet();
  for (let at = 0; at < bytes.length; at += 8)
    keys.add({ high: bytes.readUInt32LE(at), low: bytes.readUInt32LE(at + 4) });
  return keys;
}

/** The text of these keys for a state, which has no room for more than `most`. */
export function encodeKeys(keys: readonly Digest[], most: number): string | undefined {
  if (keys.length === 0) return undefined;
  if (keys.length > most) return "made:1:";
  const bytes = Buffer.alloc(keys.length * 8);
  for (const [index, { high, low }] of keys.entries()) {
    bytes.writeUInt32LE(high, index * 8);
    bytes.writeUInt32LE(low, index * 8 + 4);
  }
  return `keys:1:${bytes.toString("base64")}`;
}

/** A file's natural keys are kept in the state within these bounds. */
const maxKeys = { rows: 1_000, characters: 16_000 };

/** True when the keys are few enough for a state. */
const isWithinBounds = (keys: readonly string[]): boolean =>
  keys.length <= maxKeys.rows && keys.join().length <= maxKeys.characters;

/** Natural keys by which engines and people tell the rows apart: of all that the program has, of a small file's. */
export async function keysIn(inputs: Seed, { rows }: Summary, directory: string): Promise<string[] | undefined> {
  if (inputs.sensitive || (inputs.rows === undefined && rows.length > maxKeys.rows)) return undefined;
  const keys = await keysOf(inputs, directory);
  return inputs.rows !== undefined || isWithinBounds(keys) ? keys : undefined;
}

/** The rows that a seed declares: as they were checked, or read again. */
export const summaryOf = async (
  { rowClaims, directory }: Pick<OfflineContext, "rowClaims" | "directory">,
  inputs: Seed,
): Promise<Summary> => rowClaims.remembered(inputs.resourceUrn, inputs.digest) ?? (await summarize(inputs, directory));

/** The rows that the state was applied from, where their source is there unchanged: what is decided by them is so in any clone. */
export const lastSource = (
  { directory }: Pick<OfflineContext, "directory">,
  state: Seed,
): Promise<Summary | undefined> =>
  state.source === undefined && state.rows === undefined
    ? Promise.resolve(undefined)
    : sameAs(state.digest, state, directory);

/**
 * Works on the source that the state was applied from, to show what was there: unchanged on disk, or in the last commit of
 * the repository that it is in. `seed` leads to it from `directory`. Undefined where it is not.
 */
export async function withLastSource<Answer>(
  { directory }: Pick<OfflineContext, "directory">,
  state: Seed,
  work: (summary: Summary, seed: Seed, directory: string) => Promise<Answer>,
): Promise<Answer | undefined> {
  const { source, digest } = state;
  const found = await lastSource({ directory }, state);
  if (found) return work(found, state, directory);
  if (source === undefined) return undefined;
  const folder = await mkdtemp(join(tmpdir(), "microapps-"));
  try {
    const seed = { ...state, source: basename(source) };
    const summary = (await isCommitted(directory, source, folder)) ? await sameAs(digest, seed, folder) : undefined;
    return summary && (await work(summary, seed, folder));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Copies a file as the last commit of its Git repository has it; false without a repository, such a file, or Git. */
async function isCommitted(directory: string, file: string, folder: string): Promise<boolean> {
  const path = relative(directory, resolve(directory, file)).replaceAll("\\", "/");
  const git = spawn("git", [...gitFlags, "show", `HEAD:./${path}`], {
    cwd: directory,
    env: toGitEnvironment(),
    stdio: ["ignore", "pipe", "ignore"],
  });
  const ended = new Promise<boolean>((resolve) => {
    git.on("error", () => resolve(false)); // Git is not installed
    git.on("close", (status) => resolve(status === 0));
  });
  await pipeline(git.stdout, createWriteStream(join(folder, basename(file)), { mode: 0o600 }));
  return ended;
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

/**
 * The state of the seed that an engine replaces by this one under the same name, whatever the diff found: its rows
 * become the successor's. Where the run has not seen the state, the declaration of the last run's source. Undefined
 * where there is none on this table, or where neither is known.
 */
export async function predecessorOf(
  { rowClaims, directory }: Pick<OfflineContext, "rowClaims" | "directory">,
  { resourceUrn, table }: Pick<SeedInputs, "resourceUrn" | "table">,
): Promise<SeedState | undefined> {
  const had: Partial<SeedState> | undefined = rowClaims.replaced(resourceUrn); // as check, read and diff got it
  if (had?.table !== table || had.key === undefined) return undefined;
  if (had.ledger !== undefined) return had as SeedState;
  const inputs = had as SeedInputs;
  const source = await lastSource({ directory }, inputs);
  if (!source) return undefined;
  const { rows, labels, rowLabels } = source;
  const ledger = encodeLedger(ledgerOf(rows));
  return { ...inputs, labels, labelled: rowLabels.counts(), ledger, rowCount: rows.length };
}
