import type { Op, PropertyChange } from "../events.ts";
import { bold, type Style } from "../terminal/colors.ts";
import { firstLine, type Line, oneLine, type Segment } from "../terminal/text.ts";
import { isStackUrn } from "../values/urns.ts";
import { topKey } from "./changes.ts";
import { messagesOf, type ResourceRow, type Rows } from "./rows.ts";
import { isPartOfReplacement, opWords, plural } from "./words.ts";

const severities = {
  error: { style: "red", noun: "error", prefix: "error: " },
  warning: { style: "yellow", noun: "warning", prefix: "warning: " },
  info: { style: "magenta", noun: "message", prefix: "" },
} as const;
export const shownSeverities = ["error", "warning", "info"] as const;
/** Debug messages are for `--json`. */
type ShownSeverity = (typeof shownSeverities)[number];

/** `error: `, `warning: ` or nothing. */
export const prefixOf = (severity: ShownSeverity): Segment => ({
  text: severities[severity].prefix,
  style: severities[severity].style,
});

export function isDone(rows: Rows, row: ResourceRow): boolean {
  if (rows.finished || row.state === "failed") return true;
  return row.state === "done" && !isStackUrn(row.urn);
}

/** The operation to show. A table has one row for each resource, so it shows a replacement as one. */
export function toShownOp(rows: Rows, row: ResourceRow, table: boolean): Op {
  if (row.op === "refresh" && row.state === "done" && row.changes.length === 0) return "same";
  const asOne = table && !rows.failed && (rows.run.preview || rows.finished);
  return asOne && isPartOfReplacement(row.op) ? "replace" : row.op;
}

/** The status of a row: what is planned, in progress or done. */
export function status(rows: Rows, row: ResourceRow, table: boolean): Segment {
  const op = toShownOp(rows, row, table);
  const { style, planned, doing, done, failed } = opWords[op];
  if (!isDone(rows, row)) {
    if (isStackUrn(row.urn) && op === "same") return { text: "running" };
    if (rows.run.preview || row.state === "idle") return { text: op === "refresh" ? doing : planned, style };
    const elapsed = Math.max(0, Math.floor((rows.now - row.began) / 1000));
    return { text: op === "same" ? "" : `${doing} (${elapsed}s)`, style: bold(style) };
  }
  if (rows.run.preview) return { text: planned, style };
  if (row.state === "failed" || messagesOf(row, "error").length > 0) return { text: `**${failed}**`, style: "red" };
  if (row.state === "running" && row.provider !== undefined && doing !== "") {
    return { text: `${doing} (interrupted)`, style: "yellow" };
  }
  return { text: op === "same" || row.state !== "done" ? done : `${done} ${durationText(row.seconds)}`.trim(), style };
}

function durationText(seconds: number): string {
  return seconds < 1 ? `(${seconds.toFixed(2)}s)` : `(${Math.floor(seconds)}s)`;
}

/** The info of a row: `[diff: +x-y~name]; 1 error`, or the last message while it runs. */
export function info(rows: Rows, row: ResourceRow): Line {
  const diff = diffInfo(row);
  const parts: Line[] = diff.length > 0 ? [diff] : [];
  if (rows.finished) {
    for (const severity of shownSeverities) {
      const { length } = messagesOf(row, severity);
      const { noun, style } = severities[severity];
      if (length > 0) parts.push([{ text: `${length} ` }, { text: plural(length, noun), style }]);
    }
  } else {
    const message = lastMessage(row);
    if (message) parts.push(message);
  }
  return parts.flatMap((part, i) => (i === 0 ? part : [{ text: "; " }, ...part]));
}

/** `[diff: +x-y~name]`, what goes with a deletion, or nothing. */
export function diffInfo(row: ResourceRow): Line {
  if (row.size !== undefined) return [{ text: oneLine(row.size) }];
  const diff = row.op === "same" ? [] : shortDiff(row.changes);
  return diff.length > 0 ? [{ text: "[diff: " }, ...diff, { text: "]" }] : [];
}

function lastMessage(row: ResourceRow): Line | undefined {
  if (row.live !== undefined && messagesOf(row, "error").length === 0) return [{ text: firstLine(row.live) }];
  const message = messagesOf(row, "error").at(-1) ?? row.messages.at(-1);
  return message && messageLine(message.severity, message.text);
}

/** A message as it stands in a row. */
export function messageLine(severity: ResourceRow["messages"][number]["severity"], text: string): Line {
  return [prefixOf(severity), { text: firstLine(text) }];
}

function shortDiff(changes: readonly PropertyChange[]): Line {
  const kinds = new Map<string, PropertyChange["kind"]>();
  for (const { path, kind } of changes) {
    const key = topKey(path);
    // A change below a property is an update of the property.
    if (!key.startsWith("__")) kinds.set(key, path === key && !kinds.has(key) ? kind : "update");
  }
  const keysOf = (kind: PropertyChange["kind"]): string =>
    [...kinds]
      .filter(([, other]) => other === kind)
      .map(([key]) => firstLine(key))
      .sort()
      .join(",");
  const groups: [string, PropertyChange["kind"], Style][] = [
    ["+", "add", "green"],
    ["-", "delete", "red"],
    ["~", "update", "yellow"],
  ];
  return groups.flatMap(([glyph, kind, style]) => {
    const keys = keysOf(kind);
    return keys === "" ? [] : [{ text: glyph + keys, style }];
  });
}
