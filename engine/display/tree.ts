import type { Op, PropertyChange } from "../events.ts";
import type { Style } from "../terminal/colors.ts";
import { cutText, padText, widthOf } from "../terminal/columns.ts";
import { firstLine, oneLine, shortType } from "../terminal/text.ts";
import { changeLines, marks, type Print, propertyLines, topKey } from "./properties.ts";
import { messagesOf, type ResourceRow, type Rows } from "./rows.ts";
import { isPartOfReplacement, opWords, plural, severities, shownSeverities } from "./words.ts";

/** A row of the tree. Glyph and status are painted; the others are measured and cut. */
interface TableRow {
  glyph: string;
  type: string;
  name: string;
  status: string;
  info: string;
  /** How its properties change. */
  details: string[];
}

/** The rows below each row. */
type Children = ReadonlyMap<ResourceRow | undefined, ResourceRow[]>;

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
  const children = Map.groupBy(rows.all, (row) => rows.parentOf(row));
  const body = fitted(branch(rows, rows.stack, children, "", "", print, diff), width);
  const hasInfo = body.some((row) => row.info !== "");
  const columns = [widest(body, "type", 4), widest(body, "name", 4), widest(body, "status", 4)];
  const infoCells = Math.max(1, width - 5 - columns.reduce((sum, cells) => sum + cells + 2, 0));
  const lineOf = (glyph: string, ...cells: string[]): string => {
    const padded = cells.map((cell, at) => padText(cell, columns[at] ?? 0));
    return ` ${glyph}  ${padded.join("  ")}`.trimEnd();
  };
  const titles = ["Type", "Name", print.preview ? "Plan" : "Status", ...(hasInfo ? ["Info"] : [])];
  return [
    lineOf("  ", ...titles.map((title) => print.paint(underlined, title))),
    ...body.flatMap(({ glyph, type, name, status, info, details }) => [
      lineOf(glyph, type, name, status, cutText(info, infoCells, "end")),
      ...details,
    ]),
  ];
}

/** The rows of a resource and of those below it; none where they have nothing to show. */
function branch(
  rows: Rows,
  row: ResourceRow,
  children: Children,
  prefix: string,
  below: string,
  print: Print,
  diff: boolean,
): TableRow[] {
  const shown = (children.get(row) ?? []).filter((child) => hasNews(rows, child, children));
  const { glyph, style } = opWords[toShownOp(rows, row)];
  return [
    {
      glyph: print.paint(style, glyph),
      type: prefix + shortType(row.step.resourceType),
      name: oneLine(row.step.name),
      status: status(rows, row, print),
      info: info(row),
      details: diff ? detailsOf(rows, row, print) : [],
    },
    ...shown.flatMap((child, at) => {
      const last = at === shown.length - 1;
      const [first, more] = last ? ["└─ ", "   "] : ["├─ ", "│  "];
      return branch(rows, child, children, below + first, below + more, print, diff);
    }),
  ];
}

/** True if a row has something to show of its own or below it. */
function hasNews(rows: Rows, row: ResourceRow, children: Children): boolean {
  if (row.state === "failed" || toShownOp(rows, row) !== "same" || row.messages.length > 0) return true;
  return (children.get(row) ?? []).some((child) => hasNews(rows, child, children));
}

/** Cuts types and names until they fit beside status and info: first the packages of types go. */
function fitted(body: TableRow[], width: number): TableRow[] {
  const room = width - 5 - 6 - widest(body, "status", 4) - Math.min(widest(body, "info", 0), maxInfoCells);
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

const widest = (body: readonly TableRow[], column: "type" | "name" | "status" | "info", minimum: number): number =>
  Math.max(minimum, ...body.map((row) => widthOf(row[column])));

/** The operation to show: a replacement is one row, unless one of its steps failed. */
function toShownOp(rows: Rows, row: ResourceRow): Op {
  const { step } = row;
  if (step.op === "refresh" && row.state === "done" && !step.changes) return "same";
  return !rows.failed && row.isReplaced && isPartOfReplacement(step.op) ? "replace" : step.op;
}

/** The status of a row: what is planned, or done. */
function status(rows: Rows, row: ResourceRow, { paint }: Print): string {
  const op = toShownOp(rows, row);
  const { style, planned, doing, done, failed } = opWords[op];
  if (rows.run.preview) return paint(style, planned);
  if (row.state === "failed" || messagesOf(row, "error").length > 0) return paint("red", `**${failed}**`);
  if (row.state === "running" && row.step.provider !== undefined && doing !== "")
    return paint("yellow", `${doing} (interrupted)`);
  if (op === "same" || row.state !== "done") return paint(style, done);
  const { seconds } = row;
  return paint(style, `${done} (${seconds < 1 ? seconds.toFixed(2) : Math.floor(seconds)}s)`);
}

/** The info of a row: `[diff: +x-y~name]; 1 error`, or what goes with a deletion. */
function info(row: ResourceRow): string {
  const { step } = row;
  const diff = step.op === "same" ? "" : shortDiff(step.changes ?? []);
  const counts = shownSeverities.flatMap((severity) => {
    const { length } = messagesOf(row, severity);
    return length > 0 ? `${length} ${plural(length, severities[severity].noun)}` : [];
  });
  const first = step.size !== undefined ? oneLine(step.size) : diff === "" ? "" : `[diff: ${diff}]`;
  return [first, ...counts].filter((part) => part !== "").join("; ");
}

function shortDiff(changes: readonly PropertyChange[]): string {
  const kinds = new Map<string, PropertyChange["kind"]>();
  for (const { path, kind } of changes) {
    const key = topKey(path);
    // A change below a property is an update of the property.
    if (!key.startsWith("__")) kinds.set(key, path === key && !kinds.has(key) ? kind : "update");
  }
  const groups = Object.entries(marks).map(([of, { glyph }]) => {
    const keys = [...kinds].flatMap(([key, kind]) => (kind === of ? firstLine(key) : [])).sort();
    return keys.length === 0 ? "" : glyph.trim() + keys.join(",");
  });
  return groups.join("");
}

/** The properties of what is created or deleted, and the changes of others. */
function detailsOf(rows: Rows, row: ResourceRow, print: Print): string[] {
  if (toShownOp(rows, row) === "same") return [];
  const { op, properties = {}, changes = [] } = row.step;
  if (op === "create" || op === "delete") return propertyLines(properties, detailColumn, opWords[op].style, print);
  return changeLines(changes, detailColumn, print);
}
