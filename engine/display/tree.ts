import type { Op, PropertyChange } from "../events.ts";
import type { Style } from "../terminal/colors.ts";
import { clipLine, cutText, padText, widthOf } from "../terminal/columns.ts";
import { firstLine, type Line, oneLine, paintLine, type Segment, shortType, toPlainText } from "../terminal/text.ts";
import { changeLines, type Print, propertyLines, topKey } from "./properties.ts";
import { messagesOf, type ResourceRow, type Rows } from "./rows.ts";
import { isPartOfReplacement, opWords, plural, severities, shownSeverities } from "./words.ts";

interface TableRow {
  glyph: Segment;
  type: string;
  name: string;
  status: Segment;
  info: Line[];
  /** How its properties change. */
  details: string[];
}

const underlined: Style = ["underline", "blueBright"];
/** Columns that the info gets before types and names do. */
const maxInfoCells = 30;
const minCells = 12;
/** Where the properties of a resource stand, below it. */
const detailColumn = 10;

/**
 * The tree of a run that has ended: a head, then the resources by parent that have something to show.
 * @param diff shows below each resource how its properties change
 */
export function treeLines(rows: Rows, print: Print, width: number, diff: boolean): string[] {
  const children = new Map<ResourceRow, ResourceRow[]>();
  for (const row of rows.all) {
    const parent = rows.parentOf(row);
    if (!parent) continue;
    const siblings = children.get(parent) ?? [];
    siblings.push(row);
    children.set(parent, siblings);
  }
  const body = fitted(branch(rows, rows.stack, children, "", "", diff ? print : undefined), width);
  const head = ["Type", "Name", print.preview ? "Plan" : "Status"];
  if (body.some((row) => row.info.length > 0)) head.push("Info");
  const columns = [widest(body, "type", 4), widest(body, "name", 4), statusCells(body)];
  const titles: Line = head.flatMap((title, at) => [
    { text: title, style: underlined },
    { text: " ".repeat(Math.max(0, (columns[at] ?? 0) - title.length) + 2) },
  ]);
  const paint = (line: Line): string => paintLine(clipLine(line, width), print.paint);
  const infoCells = width - 5 - columns.reduce((sum, cells) => sum + cells + 2, 0);
  return [
    paint([{ text: "     " }, ...titles]),
    ...body.flatMap(({ glyph, type, name, status, info, details }) => [
      paint([
        { text: " " },
        glyph,
        { text: `  ${padText(type, columns[0] ?? 0)}  ${padText(name, columns[1] ?? 0)}  ` },
        status,
        { text: " ".repeat(Math.max(0, (columns[2] ?? 0) - widthOf(status.text)) + 2) },
        ...joined(info, infoCells),
      ]),
      ...details,
    ]),
  ];
}

/** The rows of a resource and of those below it; none where they have nothing to show. */
function branch(
  rows: Rows,
  row: ResourceRow,
  children: ReadonlyMap<ResourceRow, ResourceRow[]>,
  prefix: string,
  below: string,
  print: Print | undefined,
): TableRow[] {
  const shown = (children.get(row) ?? []).filter((child) => hasNews(rows, child, children));
  const { glyph, style } = opWords[toShownOp(rows, row)];
  return [
    {
      glyph: { text: glyph, style },
      type: prefix + shortType(row.type),
      name: oneLine(row.name),
      status: status(rows, row),
      info: info(row),
      details: print ? detailsOf(rows, row, print) : [],
    },
    ...shown.flatMap((child, at) => {
      const last = at === shown.length - 1;
      return branch(rows, child, children, `${below}${last ? "└─ " : "├─ "}`, `${below}${last ? "   " : "│  "}`, print);
    }),
  ];
}

/** True if a row has something to show of its own or below it. */
function hasNews(rows: Rows, row: ResourceRow, children: ReadonlyMap<ResourceRow, ResourceRow[]>): boolean {
  if (row.state === "failed" || toShownOp(rows, row) !== "same" || row.messages.length > 0) return true;
  return (children.get(row) ?? []).some((child) => hasNews(rows, child, children));
}

/** Cuts types and names until they fit beside status and info: first the packages of types go. */
function fitted(body: TableRow[], width: number): TableRow[] {
  const infoCells = Math.min(Math.max(0, ...body.map(({ info }) => widthOf(toPlainText(joined(info))))), maxInfoCells);
  const room = width - 5 - 2 - 2 - statusCells(body) - 2 - infoCells;
  if (widest(body, "type", 4) + widest(body, "name", 4) <= room) return body;
  const bare = body.map((row) => ({ ...row, type: row.type.replace(/[^\s:]+:(?:[^\s:]+:)?(?=[^\s:]+$)/, "") }));
  const nameCells = Math.max(minCells, room - widest(bare, "type", 4));
  const typeCells = Math.max(minCells, room - nameCells);
  return bare.map((row) => ({
    ...row,
    type: cutText(row.type, typeCells, "end"),
    name: cutText(row.name, nameCells, "start"),
  }));
}

const widest = (body: readonly TableRow[], column: "type" | "name", minimum: number): number =>
  Math.max(minimum, ...body.map((row) => widthOf(row[column])));

const statusCells = (body: readonly TableRow[]): number =>
  Math.max("Plan".length, ...body.map((row) => widthOf(row.status.text)));

/** The operation to show: a replacement is one row, unless one of its steps failed. */
function toShownOp(rows: Rows, row: ResourceRow): Op {
  if (row.op === "refresh" && row.state === "done" && row.changes.length === 0) return "same";
  return !rows.failed && row.isReplaced && isPartOfReplacement(row.op) ? "replace" : row.op;
}

/** The status of a row: what is planned, or done. */
function status(rows: Rows, row: ResourceRow): Segment {
  const op = toShownOp(rows, row);
  const { style, planned, doing, done, failed } = opWords[op];
  if (rows.run.preview) return { text: planned, style };
  if (row.state === "failed" || messagesOf(row, "error").length > 0) return { text: `**${failed}**`, style: "red" };
  if (row.state === "running" && row.provider !== undefined && doing !== "")
    return { text: `${doing} (interrupted)`, style: "yellow" };
  if (op === "same" || row.state !== "done") return { text: done, style };
  const { seconds } = row;
  return { text: `${done} (${seconds < 1 ? seconds.toFixed(2) : Math.floor(seconds)}s)`, style };
}

/** The info of a row: `[diff: +x-y~name]; 1 error`, or what goes with a deletion. */
function info(row: ResourceRow): Line[] {
  const diff = row.op === "same" ? [] : shortDiff(row.changes);
  const first: Line =
    row.size !== undefined
      ? [{ text: oneLine(row.size) }]
      : diff.length > 0
        ? [{ text: "[diff: " }, ...diff, { text: "]" }]
        : [];
  const counts = shownSeverities.flatMap((severity): Line[] => {
    const { length } = messagesOf(row, severity);
    const { noun, style } = severities[severity];
    return length > 0 ? [[{ text: `${length} ` }, { text: plural(length, noun), style }]] : [];
  });
  return [...(first.length > 0 ? [first] : []), ...counts];
}

/** The first part, and others that fit: none of them is cut to a smaller count, and the messages stand below. */
function joined([first = [], ...others]: readonly Line[], cells = Infinity): Line {
  let line = first;
  for (const part of others) {
    const longer = [...line, { text: "; " }, ...part];
    if (widthOf(toPlainText(longer)) <= cells) line = longer;
  }
  return line;
}

function shortDiff(changes: readonly PropertyChange[]): Line {
  const kinds = new Map<string, PropertyChange["kind"]>();
  for (const { path, kind } of changes) {
    const key = topKey(path);
    // A change below a property is an update of the property.
    if (!key.startsWith("__")) kinds.set(key, path === key && !kinds.has(key) ? kind : "update");
  }
  const groups: [string, PropertyChange["kind"], Style][] = [
    ["+", "add", "green"],
    ["-", "delete", "red"],
    ["~", "update", "yellow"],
  ];
  return groups.flatMap(([glyph, kind, style]) => {
    const keys = [...kinds].flatMap(([key, other]) => (other === kind ? firstLine(key) : [])).sort();
    return keys.length === 0 ? [] : [{ text: glyph + keys.join(","), style }];
  });
}

/** The properties of what is created or deleted, and the changes of others. */
function detailsOf(rows: Rows, row: ResourceRow, print: Print): string[] {
  if (toShownOp(rows, row) === "same") return [];
  if (row.op === "create" || row.op === "delete")
    return propertyLines(row.properties, detailColumn, opWords[row.op].style, print);
  return changeLines(row.changes, detailColumn, print);
}
