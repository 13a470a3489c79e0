import * as pulumi from "@pulumi/pulumi";
import { typeThrough } from "../provider/pulumi/doors.ts";
import type { CellType } from "../provider/sources/source.ts";
import { type PlainUrn, plainUrn, program } from "./program.ts";
import { isLater } from "./secrecy.ts";

/** A seed on the same table: what is known of its rows before anything is sent. */
export interface Sibling {
  urn: string;
  table: string;
  key: string[];
  rows?: Record<string, unknown>[];
  source?: string;
  types?: Record<string, CellType>;
  additions?: Record<string, unknown>[];
  removals?: Removals;
}

type Removals = (string | number | boolean | (string | number | boolean)[])[];

/** What a seed shows to others, while it is constructed. */
export type Announced = Omit<Sibling, "urn"> & { urn: PlainUrn; secret: readonly unknown[] };

/**
 * The other seeds on the same table, once the program has constructed them. Without them, a row that moves from one
 * seed to another would be removed by the first before the second is known. Undefined when there are none.
 */
export function siblingsOf(
  name: string,
  args: Readonly<Record<string, unknown>>,
  options: pulumi.CustomResourceOptions = {},
): Promise<Sibling[] | undefined> {
  const own = announcement(name, args, options);
  if (!own) return Promise.resolve(undefined);
  const { seeds: announced } = program();
  announced.push(own);
  return new Promise((resolve, reject) => {
    setImmediate(() => {
      const others = announced.filter((one) => one !== own && one.table === own.table);
      const awaited = others.map(async ({ urn, rows, additions, secret, ...rest }) => {
        // Only cells of keys leave a seed: its own, and those of the seed that gets them.
        const labels = [...rest.key, ...own.key].filter((label) => !secret.includes(label));
        const keysOf = (list: typeof rows) => list?.map((row) => plainly(row, labels));
        const keys = { ...(rows && { rows: keysOf(rows) }), ...(additions && { additions: keysOf(additions) }) };
        return { ...rest, ...keys, urn: await urn }; // with the lists that it has itself
      });
      Promise.all(awaited).then((siblings) => resolve(siblings.length === 0 ? undefined : siblings), reject);
    });
  });
}

/** What a seed shows to others; undefined when it holds outputs, since waiting for them could mean waiting for itself. */
function announcement(
  name: string,
  { table, key, rows, source, types, additions, removals, secretLabels }: Readonly<Record<string, unknown>>,
  { parent }: pulumi.CustomResourceOptions,
): Announced | undefined {
  const keys = [key].flat();
  if (typeof table !== "string" || !isTexts(keys)) return undefined;
  const areRows = (list: unknown): list is Record<string, unknown>[] =>
    Array.isArray(list) && list.every((row: unknown) => hasKeys(row, keys));
  if ((additions !== undefined && !areRows(additions)) || isLater([removals, secretLabels])) return undefined;
  // The provider checks their content.
  const edits = { ...(additions && { additions }), ...(Array.isArray(removals) && { removals: removals as Removals }) };
  const secret = [secretLabels].flat();
  const urn = plainUrn(name, typeThrough(program().door, "SeedRows"), parent);
  const declared = { secret, urn, table, key: keys, ...edits };
  if (typeof source === "string" && rows === undefined) {
    return isPlain(types)
      ? { ...declared, source, ...(types ? { types: types as Sibling["types"] & object } : {}) }
      : undefined; // checked by the provider
  }
  return source === undefined && areRows(rows) ? { ...declared, rows } : undefined;
}

const isTexts = (values: unknown[]): values is string[] => values.every((value) => typeof value === "string");

const isPlain = (value: unknown): boolean =>
  value === undefined ||
  (typeof value === "object" && Object.values(value ?? {}).every((one) => typeof one === "string"));

/** The cells of these labels that are plain values. */
const plainly = (row: Record<string, unknown>, labels: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(row).filter(
      ([label, value]) => labels.includes(label) && ["string", "number", "boolean"].includes(typeof value),
    ),
  );

function hasKeys(row: unknown, keys: readonly string[]): row is Record<string, unknown> {
  if (typeof row !== "object" || row === null || pulumi.Output.isInstance(row) || row instanceof Promise) return false;
  const known = plainly(row as Record<string, unknown>, keys);
  return keys.every((key) => key in known);
}
