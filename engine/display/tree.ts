import { isStackUrn } from "../urns.ts";
import { info, isDone, shownOp, status } from "./cells.ts";
import type { Style } from "./colors.ts";
import type { Row, Rows } from "./rows.ts";
import { cellsOf, type Line, oneLine, padded, plain, shortType } from "./text.ts";
import { words } from "./words.ts";

interface Branch {
  row: Row;
  children: Branch[];
}

interface TableRow {
  glyph: { text: string; style: Style };
  type: string;
  name: string;
  status: Line;
  info: Line;
}

const underlined: Style = ["underline", "blueBright"];
// Up to three dots tell that something is still going on; their place is kept free when it is done, as in Pulumi.
const dots = 3;

/** The columns that what is said gets before types and names do. */
const toldCells = 30;
const shortest = 12;
/** Shorter names say little: the packages of the types go first. */
const telling = 20;

/** Cuts names and types so far that plan and info are seen on a terminal of this width. */
function fitted(body: TableRow[], width: number): TableRow[] {
  const most = (of: (row: TableRow) => string, least = 4): number =>
    Math.max(least, ...body.map((row) => cellsOf(of(row))));
  const types = most(({ type }) => type);
  const names = most(({ name }) => name);
  const said = Math.min(
    most(({ info }) => plain(info), 0),
    toldCells,
  );
  const missing = 5 + types + 2 + names + 2 + dots + most(withoutDots) + 2 + said - width;
  if (missing <= 0) return body;
  const bare = body.map((row) => ({ ...row, type: row.type.replace(/[^\s:]+:(?:[^\s:]+:)?(?=[^\s:]+$)/, "") }));
  if (names - missing < telling && bare.some(({ type }, i) => type !== body[i]?.type)) return fitted(bare, width);
  const room = Math.max(shortest, names - missing);
  const typeRoom = Math.max(shortest, types - Math.max(0, missing - (names - room)));
  return body.map((row) => ({ ...row, type: cut(row.type, typeRoom, "end"), name: cut(row.name, room, "start") }));
}

const graphemes = new Intl.Segmenter();

function cut(text: string, cells: number, where: "start" | "end"): string {
  if (cellsOf(text) <= cells) return text;
  let kept = Array.from(graphemes.segment(text), ({ segment }) => segment);
  while (cellsOf(kept.join("")) >= cells) kept = where === "start" ? kept.slice(1) : kept.slice(0, -1);
  return where === "start" ? `…${kept.join("")}` : `${kept.join("")}…`;
}

/** The table of a run: a head, then the resources as a tree by parent. */
export function table(rows: Rows, width = Infinity): Line[] {
  const body = fitted(flattened(rows, branch(rows, rows.stack, childrenOf(rows)), "", ""), width - 1);
  const typeCells = Math.max(4, ...body.map(({ type }) => cellsOf(type)));
  const nameCells = Math.max(4, ...body.map(({ name }) => cellsOf(name)));
  const statusCells = dots + Math.max(4, ...body.map((row) => cellsOf(withoutDots(row))));
  const head = ["Type", "Name", rows.run.preview ? "Plan" : "Status"];
  if (body.some((row) => row.info.length > 0)) head.push("Info");
  const columns = [typeCells, nameCells, Math.max(statusCells, dots + (head[2]?.length ?? 0))];
  return [
    [
      { text: "     " },
      ...head.flatMap((title, i) => [
        { text: title, style: underlined },
        { text: " ".repeat(Math.max(0, (columns[i] ?? 0) - title.length) + 2) },
      ]),
    ],
    ...body.map((row): Line => [
      { text: " " },
      row.glyph,
      { text: `  ${padded(row.type, typeCells)}  ${padded(row.name, nameCells)}  ` },
      ...row.status,
      { text: " ".repeat(Math.max(0, (columns[2] ?? 0) - cellsOf(plain(row.status))) + 2) },
      ...row.info,
    ]),
  ];
}

const withoutDots = (row: TableRow): string => row.status[0]?.text ?? "";

function childrenOf(rows: Rows): Map<Row, Row[]> {
  const children = new Map<Row, Row[]>();
  for (const row of rows.all) {
    const parent = rows.parentOf(row);
    if (parent) children.set(parent, [...(children.get(parent) ?? []), row]);
  }
  return children;
}

function branch(rows: Rows, row: Row, children: Map<Row, Row[]>): Branch {
  const below = (children.get(row) ?? []).map((child) => branch(rows, child, children));
  return { row, children: below.filter((child) => child.children.length > 0 || hasNews(rows, child.row)) };
}

/** Whether a row is worth showing for itself; others only hold their children together. */
function hasNews(rows: Rows, row: Row): boolean {
  if (isStackUrn(row.urn) || row.state === "failed" || shownOp(rows, row, true) !== "same") return true;
  if (row.messages.length > 0) return true;
  return row.live !== undefined && !rows.finished;
}

function flattened(rows: Rows, { row, children }: Branch, prefix: string, below: string): TableRow[] {
  const { glyph, style } = words[shownOp(rows, row, true)];
  return [
    {
      glyph: { text: glyph, style },
      type: prefix + shortType(row.type),
      name: oneLine(row.name),
      status: [status(rows, row, true), ...suffix(rows, row, style)],
      info: info(rows, row),
    },
    ...children.flatMap((child, i) => {
      const last = i === children.length - 1;
      return flattened(rows, child, `${below}${last ? "└─ " : "├─ "}`, `${below}${last ? "   " : "│  "}`);
    }),
  ];
}

function suffix(rows: Rows, row: Row, style: Style): Line {
  if (isDone(rows, row) || (!isStackUrn(row.urn) && (row.op === "same" || row.state !== "running"))) return [];
  return [{ text: ".".repeat(Math.max(0, Math.floor((rows.now - row.began) / 1000)) % (dots + 1)), style }];
}

/** One row as a line of its own, for output that is kept as a log. */
export function logLine(rows: Rows, row: Row, extra: Line): Line {
  const { glyph, style } = words[shownOp(rows, row, false)];
  const columns: Line[] = [
    [{ text: oneLine(row.type) }],
    [{ text: oneLine(row.name) }],
    [status(rows, row, false)],
    extra,
  ];
  const said = columns.filter((column) => plain(column) !== "");
  return [{ text: " " }, { text: glyph, style }, ...said.flatMap((column) => [{ text: " " }, ...column])];
}
