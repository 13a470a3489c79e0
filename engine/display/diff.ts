import type { Op, StepInfo } from "../events.ts";
import { oneLine } from "../terminal/text.ts";
import { isDefaultProvider, isStackUrn, parseReference } from "../values/urns.ts";
import { changeTree } from "./changes.ts";
import { changeLines, type Print, propertyLines } from "./properties.ts";
import type { Rows } from "./rows.ts";
import { isPartOfReplacement, opWords } from "./words.ts";

/** True if the detailed view shows a step: a replacement once, unchanged resources and internal steps never. */
export function isDetailed({ op, urn }: StepInfo): boolean {
  if (isStackUrn(urn)) return true;
  return op !== "same" && op !== "remove-pending-replace" && !isPartOfReplacement(op);
}

/** Shows one resource in full, for `--diff`: the operation, and how each property changes. */
export function stepLines(step: StepInfo, depth: number, print: Print): string[] {
  const { glyph, style } = opWords[step.op];
  const column = 4 * depth;
  const head = " ".repeat(column) + glyph + `${oneLine(step.resourceType)}: (${step.op})`;
  const isWhole = step.op === "create" || step.op === "delete";
  const color = isWhole ? style : undefined;
  const labels = [
    ...(step.size === undefined ? [] : [`[size=${oneLine(step.size)}]`]),
    ...(step.id ? [`[id=${oneLine(step.id)}]`] : []),
    `[urn=${oneLine(step.urn)}]`,
    ...(step.provider && !isDefaultProvider(parseReference(step.provider).urn)
      ? [`[provider=${oneLine(step.provider)}]`]
      : []),
  ];
  const labelled = labels.map((label) => " ".repeat(column + 4) + label);
  return [
    print.paint(style, head),
    ...labelled.map((label) => (color === undefined ? label : print.paint(color, label))),
    ...(isWhole
      ? propertyLines(step.properties ?? {}, column + 4, color, print)
      : changeLines(changeTree(step.op === "same" ? [] : (step.changes ?? [])), column + 4, print)),
  ];
}

/** Counts the parents of a resource that are shown; it is indented below them. */
export function depthOf(rows: Rows, urn: string, shown: ReadonlySet<string>): number {
  let depth = 0;
  const passed = new Set<string>();
  for (let at = rows.parentOf(rows.row(urn)); at && !passed.has(at.urn); at = rows.parentOf(at)) {
    passed.add(at.urn);
    if (shown.has(at.urn)) depth++;
  }
  return depth;
}

/** True if a step is shown when it is done: a refresh knows only then what it found. */
export const isShownWhenDone = (op: Op): boolean => op === "refresh";
