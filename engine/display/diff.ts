import type { Op, StepInfo } from "../events.ts";
import { oneLine } from "../terminal/text.ts";
import { isDefaultProvider, isStackUrn, parseReference } from "../values/urns.ts";
import { changeTree } from "./changes.ts";
import { changeLines, type Print, propertyLines } from "./properties.ts";
import type { Rows } from "./rows.ts";
import { isPartOfReplacement, opWords } from "./words.ts";

/** Whether the detailed view tells of a step: a replacement is told once, what stays and what is only kept in books never. */
export function isDetailed({ op, urn }: StepInfo): boolean {
  if (isStackUrn(urn)) return true;
  return op !== "same" && op !== "remove-pending-replace" && !isPartOfReplacement(op);
}

/** One resource in full, for `--diff`: what is done to it and, for each property, how. */
export function stepLines(step: StepInfo, depth: number, print: Print): string[] {
  const { glyph, style } = opWords[step.op];
  const column = 4 * depth;
  const head = " ".repeat(column) + glyph + `${oneLine(step.resourceType)}: (${step.op})`;
  const isWhole = step.op === "create" || step.op === "delete";
  const color = isWhole ? style : undefined;
  const labels = [
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

/** How deep a resource is shown: below those of its parents that are shown. */
export function depthOf(rows: Rows, urn: string, shown: ReadonlySet<string>): number {
  let depth = 0;
  const passed = new Set<string>();
  for (let at = rows.parentOf(rows.row(urn)); at && !passed.has(at.urn); at = rows.parentOf(at)) {
    passed.add(at.urn);
    if (shown.has(at.urn)) depth++;
  }
  return depth;
}

/** A refresh knows what it has found only when it is done; all else is told before it is done. */
export const isShownWhenDone = (op: Op): boolean => op === "refresh";
