import * as pulumi from "@pulumi/pulumi";
import { dynamicType } from "../provider/pulumi/dynamicProvider.ts";
import type { CellType } from "../provider/resources/sources/source.ts";
import { plainUrn } from "./resource.ts";

/** What of a seed says which rows it declares, as far as it is known before anything is sent. */
export interface Sibling {
  urn: string;
  table: string;
  key: string[];
  rows?: Record<string, unknown>[];
  source?: string;
  types?: Record<string, CellType>;
}

type Announced = Omit<Sibling, "urn"> & { urn: Promise<string> };

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
      Promise.all(others.map(async ({ urn, ...rest }) => ({ ...rest, urn: await urn }))).then(
        (siblings) => resolve(siblings.length === 0 ? undefined : siblings),
        reject,
      );
    });
  });
}

/** Undefined when something of it is an output: waiting for that here could be waiting for this seed itself. */
function announcement(
  name: string,
  { table, key, rows, source, types }: Readonly<Record<string, unknown>>,
  { parent }: pulumi.CustomResourceOptions,
): Announced | undefined {
  const keys = [key].flat();
  if (typeof table !== "string" || !isTexts(keys)) return undefined;
  const declared = { urn: plainUrn(name, dynamicType("SeedRows"), parent), table, key: keys };
  if (typeof source === "string" && rows === undefined) {
    return isPlain(types)
      ? { ...declared, source, ...(types ? { types: types as Sibling["types"] & object } : {}) }
      : undefined; // checked by the provider
  }
  if (source !== undefined || !Array.isArray(rows)) return undefined;
  // Keys alone: the rest of a row is nobody else's business.
  const known = rows.map((row: unknown) => keysOf(row, keys));
  return known.every((row) => row !== undefined) ? { ...declared, rows: known } : undefined;
}

const isTexts = (values: unknown[]): values is string[] => values.every((value) => typeof value === "string");

const isPlain = (value: unknown): boolean =>
  value === undefined ||
  (typeof value === "object" && Object.values(value ?? {}).every((one) => typeof one === "string"));

function keysOf(row: unknown, keys: readonly string[]): Record<string, unknown> | undefined {
  if (typeof row !== "object" || row === null || pulumi.Output.isInstance(row) || row instanceof Promise)
    return undefined;
  const values = Object.entries(row).filter(([label]) => keys.includes(label));
  const known = values.every(([, value]) => ["string", "number", "boolean"].includes(typeof value));
  return known && values.length === keys.length ? Object.fromEntries(values) : undefined;
}
