import type { Declaration } from "../environment/declaration.ts";
import { calledNow } from "../environment/formerKeys.ts";
import { hasLine } from "../environment/policy.ts";
import { numbered } from "../messages/text.ts";
import { listed } from "../resources/model/removals.ts";
import { keyOf } from "../resources/rows/declared/declaration.ts";
import type { Thing } from "./model/changeSet.ts";
import type { Both } from "./pairs.ts";

/**
 * Why a run would refuse removals that have no line under `removed`. The base decides whether they need one: a change
 * can't free itself.
 */
export function undeclaredRemovals({ base, head }: Both, thing: Thing): string[] {
  if (base.declaration.removals !== "declared") return [];
  const policy = base.place(["removals"]);
  const at = thing.place === undefined ? "" : ` (${thing.place})`;
  return missingLines(head.declaration, thing).map(
    ({ what, line }) =>
      `removals: declared at ${policy}, and no line for ${what}${at}. If it is meant, add: removed: { ${line} }`,
  );
}

interface Line {
  what: string;
  line: string;
}

function missingLines(
  { removed, seeds, organizations }: Declaration,
  { kind, op, name, formerly, changes, rows }: Thing,
): Line[] {
  if (op === "remove") {
    const names = kind === "team" ? [name, calledNow(name, organizations)] : [name];
    if (names.some((each) => hasLine(removed, [`${kind}s`, each]))) return [];
    return [{ what: `${kind} ${name}`, line: `${kind}s: ${listed([name])}` }];
  }
  const leaving = (of: "person" | "row"): string[] =>
    changes.flatMap((change) => (change.kind === of && change.op === "remove" ? [change.name] : []));
  if (kind === "team") {
    const names = formerly === undefined ? [name] : [name, formerly];
    const left = leaving("person").filter(
      (person) => !names.some((team) => hasLine(removed, ["members", team, person])),
    );
    if (left.length === 0) return [];
    return [{ what: `${numbered(left.length, "member")} of ${name}`, line: `members: { ${name}: ${listed(left)} }` }];
  }
  if (kind !== "seed" || seeds[name]?.mode !== "exact" || !rows) return [];
  const lines = new Set((removed.rows?.[name] ?? []).map((key) => nameOf([key].flat())));
  const left = leaving("row").filter((key) => !lines.has(key));
  // Rows that are not listed, or are secret, are counted alone.
  const count = Math.max(left.length, rows.remove - lines.size);
  if (count === 0 || rows.remove === 0) return [];
  const keys = left.length === count && count <= maxPasted ? listed(left) : `[${count} natural keys]`;
  return [{ what: `${numbered(count, "row")} of seed ${name}`, line: `rows: { ${name}: ${keys} }` }];
}

/** The parts of a natural key as the name of a row. */
export const nameOf = (parts: readonly unknown[]): string =>
  keyOf(
    parts.map((_, at) => String(at)),
    Object.fromEntries(parts.entries()),
  );

/** Above this count keys are counted and not listed. */
const maxPasted = 20;
