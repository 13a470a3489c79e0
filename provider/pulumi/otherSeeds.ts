import type { SeedInputs } from "../seedRows/inputs.ts";
import { holdsMarked, type Marks } from "./properties.ts";

type Known = NonNullable<SeedInputs["siblings"]>[number];

/** A seed on the same table: what is known of its rows before anything is sent. */
export type Sibling<Urn = string> = Omit<Known, "urn"> & { urn: Urn };

/** A seed whose rows refer to those of another one. Without its URN, which may wait for that of the other. */
export type Referrer = NonNullable<SeedInputs["referrers"]>[number];

/** Where the links of a seed lead to, by label. */
export type LinkTargets = Referrer["references"];

/** The part of a seed that others see while it is constructed. */
export interface Announced<Urn = string> extends Sibling<Urn> {
  name: string;
  secret: readonly unknown[];
  references: LinkTargets;
}

/**
 * The part of a seed that others see; undefined when it holds marked values, since waiting for them could mean waiting
 * for itself.
 */
export function announcement<Urn>(
  own: { name: string; urn: Urn; references: LinkTargets },
  {
    table,
    key,
    rows,
    source,
    types,
    delimiter,
    mode,
    additions,
    removals,
    secretLabels,
  }: Readonly<Record<string, unknown>>,
  marks: Marks,
): Announced<Urn> | undefined {
  const keys = [key].flat();
  if (typeof table !== "string" || !isTexts(keys)) return undefined;
  const hasKeys = (row: unknown): boolean => {
    if (typeof row !== "object" || row === null || marks.isMarked(row)) return false;
    const known = plainly(row as Record<string, unknown>, keys);
    return keys.every((each) => each in known);
  };
  const areRows = (list: unknown): list is Record<string, unknown>[] => Array.isArray(list) && list.every(hasKeys);
  if ((additions !== undefined && !areRows(additions)) || holdsMarked([removals, secretLabels, mode], marks))
    return undefined;
  // The provider checks their content.
  const edits = {
    ...(additions && { additions }),
    ...(Array.isArray(removals) && { removals: removals as Known["removals"] }),
    ...(mode === "updateOnly" && { mode: "updateOnly" as const }),
  };
  const declared = { secret: [secretLabels].flat(), ...own, table, key: keys, ...edits };
  if (typeof source === "string" && rows === undefined && isPlain(types)) {
    const form = {
      ...(types ? { types: types as Known["types"] } : {}),
      ...(typeof delimiter === "string" ? { delimiter: delimiter as Known["delimiter"] } : {}),
    };
    return { ...declared, source, ...form };
  }
  return source === undefined && areRows(rows) ? { ...declared, rows } : undefined;
}

/**
 * The other seeds on the same table. Without them, a row that moves from one seed to another would be removed by the first
 * before the second is known.
 */
export function siblingsAmong<Urn>(all: readonly Announced<Urn>[], own: Announced<Urn>): Sibling<Urn>[] | undefined {
  const near = all.filter((one) => one !== own && one.table === own.table);
  const siblings = near.map(({ name: _, references: __, ...rest }) => shownCells(rest, own.key));
  return siblings.length === 0 ? undefined : siblings;
}

/** The seeds that refer to the rows of one, which would be removed while others still need them. */
export function referrersAmong<Urn>(all: readonly Announced<Urn>[], own: Announced<Urn>): Referrer[] | undefined {
  const referrers = all.flatMap((one) => {
    const { urn: _, references, ...rest } = one;
    const links = Object.entries(references).filter(
      ([label, to]) => to.table === own.table && !rest.secret.includes(label),
    );
    const labels = links.map(([label]) => label);
    if (one === own || labels.length === 0) return [];
    return [{ ...shownCells(rest, labels), references: Object.fromEntries(links) }];
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
