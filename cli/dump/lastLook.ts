import type { RowData } from "../../provider/contract/values.ts";
import { isObject } from "../../provider/contract/wire.ts";
import { firstLines } from "../../provider/messages/firstLines.ts";
import { formatCount } from "../../provider/messages/text.ts";
import { read } from "../../provider/sources/read.ts";
import { leavesOf } from "../../provider/sources/source.ts";
import { namesIn, type DumpMask } from "./dumpMask.ts";
import { Fingerprint } from "./mask/fingerprints.ts";
import { MaskError } from "./mask/maskError.ts";
import { peopleLabel, platformIDs, type Origin } from "./mask/originals.ts";
import type { DumpedOrganization } from "./people.ts";
import { isNothing } from "./rows/columns.ts";
import { listWritten, type DumpedSeed } from "./seeds.ts";

/** A sum over the texts in the masked labels of some rows; the order of the rows does not count. */
export class MaskedSum {
  high = 0;
  low = 0;
  readonly #print = new Fingerprint();

  /** Adds the values of labels. */
  add(values: RowData, labels: readonly string[]): void {
    for (const label of labels) {
      if (isNothing(values[label])) continue;
      for (const leaf of leavesOf(values[label])) {
        const { high, low } = this.#print.of(`${label}\0${leaf}`);
        this.high = (this.high + high) | 0;
        this.low = (this.low + low) | 0;
      }
    }
  }
}

/** Labels of a seed whose values are masks through and through. */
export function listMaskedLabels(seed: DumpedSeed): string[] {
  const written = listWritten(seed);
  return (seed.rows.mask?.labels ?? []).flatMap(({ label, rule, links }) =>
    links === 0 && rule && rule.rule.kind !== "keep" && rule.rule.kind !== "drop" && written.includes(label)
      ? [label]
      : [],
  );
}

const none: ReadonlySet<string> = new Set();

/**
 * Reads back what was written, and ends with a MaskError where a value that was masked or dropped stands in it, or where a
 * masked label holds what no mask is.
 */
export async function lookOver(
  mask: DumpMask,
  seeds: readonly DumpedSeed[],
  sums: ReadonlyMap<DumpedSeed, MaskedSum>,
  organizations: readonly DumpedOrganization[],
  draft: string,
): Promise<void> {
  const found = [...findInNames(mask, organizations)];
  for (const seed of seeds) found.push(...(await findInSeed(mask, seed, sums.get(seed), draft)));
  if (found.length > 0) throw new MaskError(`nothing was written:\n${firstLines(found).join("\n")}`);
}

function* findInNames({ originals }: DumpMask, organizations: readonly DumpedOrganization[]): Generator<string> {
  for (const { name, description } of namesIn(organizations)) {
    for (const [what, text] of [
      ["name", name],
      ["description", description ?? ""],
    ] as const) {
      const origin = originals.find(text);
      if (origin)
        yield `the ${what} of an organization or a team holds a value of "${origin.label}" (${origin.table}): mask names, drop descriptions`;
    }
  }
}

async function findInSeed(
  { originals, rules }: DumpMask,
  seed: DumpedSeed,
  written: MaskedSum | undefined,
  draft: string,
): Promise<string[]> {
  const { table, key } = seed.rows.option;
  const masked = listMaskedLabels(seed);
  const follows = new Set([...masked, ...seed.references.keys(), ...(seed.parent ? [seed.parent.by] : [])]);
  const allowed = new Map<string, ReadonlySet<string>>();
  const sum = new MaskedSum();
  const found = new Map<string, { line: number; count: number }>();
  const { source: file, types, references, parent } = seed.declaration;
  for await (const block of read({ source: file, types, references, parent, key }, draft)) {
    for (const { line, values } of block) {
      sum.add(values, masked);
      for (const [label, value] of Object.entries(values)) {
        if (follows.has(label) || isNothing(value)) continue;
        let excepted = allowed.get(label);
        if (!excepted) {
          const rule = rules.find(table, label)?.rule;
          allowed.set(label, (excepted = rule?.kind === "keep" ? new Set(rule.mayHold) : none));
        }
        for (const text of textsIn(value)) {
          const origin = originals.find(text, excepted);
          if (!origin) continue;
          const reason = describeFind(label, origin);
          const known = found.get(reason);
          found.set(reason, { line: known?.line ?? line, count: (known?.count ?? 0) + 1 });
        }
      }
    }
  }
  const all = [...found].map(
    ([reason, { line, count }]) => `${file}:${line} (${formatCount(count, "value")}): ${reason}`,
  );
  if (written && (sum.high !== written.high || sum.low !== written.low))
    all.push(`${file}: what stands in it is not what was masked: write to the maintainers of pulumi-microapps`);
  return all;
}

function describeFind(label: string, { table, label: source }: Origin): string {
  if (source === platformIDs) return `"${label}" holds an ID of the platform: mask it by digits, or drop it`;
  return `"${label}" holds a value of "${source}" (${source === peopleLabel ? table : `table ${table}`}), which is not kept: mask or drop ${label}, or write {keep: {mayHold: ["${source}"]}} for it`;
}

/** The texts in a value, names of a map's entries included. */
function* textsIn(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  else if (typeof value === "number") yield String(value);
  else if (Array.isArray(value)) for (const item of value) yield* textsIn(item);
  else if (isObject(value))
    for (const [name, inner] of Object.entries(value)) {
      yield name;
      yield* textsIn(inner);
    }
}
