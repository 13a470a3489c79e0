import { formatCounts, unbroken } from "../../../platform/messages/text.ts";
import { shortenValue as shortened } from "../../report/changeSet.ts";
import type { PromotedChange, PromotionConflict } from "./model.ts";
import type { Promoted } from "./promote.ts";

/** Changes that are listed; all are counted. */
const maxListed = 1_000;

const signs = { add: "+", change: "~", remove: "-" } as const;

/** A promotion for people. */
export function renderPromotion(promotion: Promoted): string {
  const { from, to, base, taken, conflicts, notes } = promotion;
  const by = {
    entry: "promotions.yaml",
    return: `the last promotion from ${to} to ${from}`,
    fork: "the first commit with both files",
  }[base.by];
  const more = taken.length - maxListed;
  const lines = [
    `${from} → ${to}, what changed since ${base.commit.slice(0, 12)} (${by})`,
    ...taken.slice(0, maxListed).map(changeLine),
    ...(more > 0 ? [`  … and ${more} more (--json lists all)`] : []),
    ...conflicts.flatMap((conflict) => conflictLines(conflict, from, to)),
    ...notes.map((note) => `note: ${note}`),
    ...outcomeLines(promotion),
  ];
  return `${lines.map(unbroken).join("\n")}\n`;
}

function changeLine(change: PromotedChange): string {
  if (change.do === "rename") return `  ~ ${change.name}  column ${change.former} → ${change.now}`;
  const cells =
    change.do === "change"
      ? Object.entries(change.cells).map(([label, { from, to }]) => `${label}: ${shown(to)} → ${shown(from)}`)
      : change.do === "add"
        ? Object.entries(change.cells).flatMap(([label, value]) =>
            value === undefined || value === null || change.row?.labels.includes(label)
              ? []
              : `${label}: ${shown(value)}`,
          )
        : [];
  return `  ${signs[change.do]} ${change.name}${cells.length > 0 ? `  ${cells.join(", ")}` : ""}`;
}

function conflictLines({ name, label, ...values }: PromotionConflict, from: string, to: string): string[] {
  const width = Math.max("base".length, from.length, to.length);
  const line = (side: string, value: unknown): string => `      ${side.padEnd(width)}  ${shown(value)}`;
  return [
    `  ! ${name}${label === undefined ? "" : `/${label}`}  conflict`,
    line("base", values.base),
    line(from, values.from),
    line(to, values.to),
  ];
}

function outcomeLines({ to, taken, conflicts, left, leftConflicts, untouched, kept, written }: Promoted): string[] {
  const count = (verb: PromotedChange["do"]): number => taken.filter((change) => change.do === verb).length;
  const summary = formatCounts([
    [count("add"), "added"],
    [count("change") + count("rename"), "changed"],
    [count("remove"), "removed"],
    [conflicts.length, conflicts.length === 1 ? "conflict" : "conflicts"],
    [kept, `kept as in ${to}`],
    [untouched, `of ${to} alone, untouched`],
    [left.length + leftConflicts, "left for another time"],
  ]);
  const isNothing = taken.length + conflicts.length === 0;
  const lines = [[isNothing ? "nothing to promote" : "", summary].filter((part) => part !== "").join("; ")];
  if (conflicts.length > 0)
    lines.push(
      "nothing is written: decide each conflict with --ours <name> or --theirs <name>, or change one of the files",
    );
  else if (written.length > 0) lines.push(`written: ${written.join(", ")}`);
  else if (taken.length > 0) lines.push(`--write brings this into the files of ${to}`);
  return lines;
}

function shown(value: unknown): string {
  if (value === undefined || value === null || value === "") return "(nothing)";
  const short = shortened(value, 200);
  return typeof short === "string" ? short : JSON.stringify(short);
}

/** A promotion for programs. */
export function toPromotionJson({ base, taken, left, ...promotion }: Promoted): object {
  const plain = ({ row: _, path, ...change }: PromotedChange): object => ({ ...change, key: undefined, path });
  return {
    version: 1,
    kind: "promotion",
    ...promotion,
    base,
    taken: taken.map(plain),
    left: left.map(({ name, do: verb }) => ({ name, do: verb })),
  };
}
