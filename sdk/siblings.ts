import * as pulumi from "@pulumi/pulumi";
import { typeThrough } from "../provider/pulumi/providerKinds.ts";
import { toPlainUrn, program } from "./program.ts";
import { isLater } from "./secrets/secrecy.ts";
import type { Announced, LinkTargets, RemovedKeys, Sibling } from "./seeds.ts";

/** A seed whose rows refer to those of another one. Without its URN, which may wait for that of the other. */
export interface Referrer extends Omit<Sibling, "urn"> {
  name: string;
  references: LinkTargets;
}

/** A seed's knowledge of other seeds of the program, for its provider; undefined when there is nothing. */
interface Others {
  siblings: Promise<Sibling[] | undefined>;
  referrers: Promise<Referrer[] | undefined>;
}

/**
 * The other seeds on the same table, and those that refer to its rows, once the program has constructed them. Without
 * them, a row that moves from one seed to another would be removed by the first before the second is known, and so
 * would a row that others still refer to.
 * @param references targets of this seed's links, as far as they are known
 */
export function othersOf(
  name: string,
  args: Readonly<Record<string, unknown>>,
  references: LinkTargets,
  options: pulumi.CustomResourceOptions = {},
): Others {
  const own = announcement(name, args, references, options);
  const nothing = Promise.resolve(undefined);
  if (!own) return { siblings: nothing, referrers: nothing };
  const { seeds: announced } = program();
  announced.push(own);
  const others = new Promise<Announced[]>((resolve) => {
    setImmediate(() => resolve(announced.filter((one) => one !== own)));
  });
  return {
    siblings: others.then((all) => siblingsAmong(all, own)),
    referrers: others.then((all) => referrersAmong(all, own)),
  };
}

async function siblingsAmong(others: readonly Announced[], { table, key }: Announced): Promise<Sibling[] | undefined> {
  const near = others.filter((one) => one.table === table);
  const siblings = near.map(async ({ urn, name: _, references: __, ...rest }) => ({
    ...shownCells(rest, key),
    urn: await urn,
  }));
  return siblings.length === 0 ? undefined : Promise.all(siblings);
}

function referrersAmong(others: readonly Announced[], { table }: Announced): Referrer[] | undefined {
  const referrers = others.flatMap(({ urn: _, references, ...rest }) => {
    const links = Object.entries(references).filter(
      ([label, to]) => to.table === table && !rest.secret.includes(label),
    );
    const labels = links.map(([label]) => label);
    return labels.length === 0 ? [] : [{ ...shownCells(rest, labels), references: Object.fromEntries(links) }];
  });
  return referrers.length === 0 ? undefined : referrers;
}

/** A seed as another one sees it. Of its rows only cells of its own key leave it, and those of these labels. */
function shownCells<Shown extends Pick<Announced, "key" | "rows" | "additions" | "secret">>(
  { rows, additions, secret, ...rest }: Shown,
  labels: readonly string[],
): Omit<Shown, "secret"> {
  const shown = [...rest.key, ...labels].filter((label) => !secret.includes(label));
  const cellsOf = (list: typeof rows) => list?.map((row) => plainly(row, shown));
  const cells = { ...(rows && { rows: cellsOf(rows) }), ...(additions && { additions: cellsOf(additions) }) };
  return { ...rest, ...cells } as Omit<Shown, "secret">; // with the lists that it has itself
}

/**
 * The part of a seed that others see; undefined when it holds outputs, since waiting for them could mean waiting for
 * itself.
 */
function announcement(
  name: string,
  { table, key, rows, source, types, mode, additions, removals, secretLabels }: Readonly<Record<string, unknown>>,
  references: LinkTargets,
  { parent }: pulumi.CustomResourceOptions,
): Announced | undefined {
  const keys = [key].flat();
  if (typeof table !== "string" || !isTexts(keys)) return undefined;
  const areRows = (list: unknown): list is Record<string, unknown>[] =>
    Array.isArray(list) && list.every((row: unknown) => hasKeys(row, keys));
  if ((additions !== undefined && !areRows(additions)) || isLater([removals, secretLabels, mode])) return undefined;
  // The provider checks their content.
  const edits = {
    ...(additions && { additions }),
    ...(Array.isArray(removals) && { removals: removals as RemovedKeys }),
    ...(mode === "updateOnly" && { mode: "updateOnly" as const }),
  };
  const secret = [secretLabels].flat();
  const urn = toPlainUrn(name, typeThrough(program().providerKind, "SeedRows"), parent);
  const declared = { secret, name, urn, references, table, key: keys, ...edits };
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
