import * as pulumi from "@pulumi/pulumi";
import { dynamicType } from "../provider/pulumi/dynamicProvider.ts";
import type { CellType } from "../provider/sources/source.ts";
import { plainUrn } from "./resource.ts";
import { isLater } from "./secrecy.ts";

/** What of a seed says which rows it declares, as far as it is known before anything is sent. */
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

type Announced = Omit<Sibling, "urn"> & { urn: Promise<string>; secret: readonly unknown[] };

// Of the whole program: no seed is sent before all that are constructed with it are here.
const announced: Announced[] = [];

/**
 * The other seeds on the same table, once the program has constructed them: by the order of an engine alone, a row that
 * moves from one seed to another would be removed by the first before the second is known.
 */
export function siblingsOf(
  name: string,
  args: Readonly<Record<string, unknown>>,
  options: pulumi.CustomResourceOptions = {},
): Promise<Sibling[] | undefined> {
  const own = announcement(name, args, options);
  if (!own) return Promise.resolve(undefined);
  announced.push(own);
  return new Promise((resolve, reject) => {
    setImmediate(() => {
      const others = announced.filter((one) => one !== own && one.table === own.table);
      const awaited = others.map(async ({ urn, rows, additions, secret, ...rest }) => {
        // Its own keys, and those by which the one that is told knows the same rows; the rest is nobody else's business.
        const labels = [...rest.key, ...own.key].filter((label) => !secret.includes(label));
        const keysOf = (list: typeof rows) => list?.map((row) => plainly(row, labels));
        const keys = { ...(rows && { rows: keysOf(rows) }), ...(additions && { additions: keysOf(additions) }) };
        return { ...rest, ...keys, urn: await urn }; // with the lists that it has itself
      });
      Promise.all(awaited).then((siblings) => resolve(siblings.length === 0 ? undefined : siblings), reject);
    });
  });
}

/** Undefined when something of it is an output: waiting for that here could be waiting for this seed itself. */
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
  // What is in them the provider checks.
  const edits = { ...(additions && { additions }), ...(Array.isArray(removals) && { removals: removals as Removals }) };
  const secret = [secretLabels].flat();
  const declared = { secret, urn: plainUrn(name, dynamicType("SeedRows"), parent), table, key: keys, ...edits };
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

/** What of a row is known by now, of these labels. */
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
