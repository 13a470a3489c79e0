import { isDeepStrictEqual } from "node:util";
import type { Style } from "../terminal/colors.ts";
import { padText } from "../terminal/columns.ts";
import { type Line, oneLine, toPlainText, shortType } from "../terminal/text.ts";
import { widthOf } from "../terminal/width.ts";
import { isStackUrn } from "../values/urns.ts";
import { diffInfo, info, isDone, toShownOp, status } from "./cells.ts";
import type { ResourceRow, Rows } from "./rows.ts";
import { opWords } from "./words.ts";

interface Branch {
  row: ResourceRow;
  children: Branch[];
}

interface TableRow {
  glyph: { text: string; style: Style };
  type: string;
  name: string;
  status: Line;
  info: Line;
  /** The changes, which are a part of the info. */
  diff: Line;
  /** Columns that are reserved for dots. */
  dots: number;
  /** True if the run has ended, so that no more dots appear. */
  isOver: boolean;
}

const underlined: Style = ["underline", "blueBright"];
// Up to three dots show that a row is in progress; their place stays free when it is done, as in Pulumi.
const dots = 3;

/** Columns that the info gets before types and names do. */
const maxInfoCells = 30;
const minCells = 12;
/** Before names become shorter than this, the packages of the types are left out. */
const minFullNameCells = 20;

/** Cuts names and types until plan and info fit a terminal of this width. */
function fitted(body: TableRow[], width: number): TableRow[] {
  const types = widest(body, ({ type }) => type, 4);
  const names = widest(body, ({ name }) => name, 4);
  const infoCells = Math.min(
    widest(body, ({ info }) => toPlainText(info)),
    maxInfoCells,
  );
  const missing = 5 + types + 2 + names + 2 + statusCells(body) + 2 + infoCells - width;
  if (missing <= 0) return body;
  // The messages are shown below the table anyway.
  const brief = body.map((row) => ({
    ...row,
    info: row.diff.length > 0 ? row.diff : row.info,
    dots: row.isOver ? 0 : dots,
  }));
  if (names - missing < minFullNameCells && !isDeepStrictEqual(brief, body)) return fitted(brief, width);
  const bare = body.map((row) => ({ ...row, type: row.type.replace(/[^\s:]+:(?:[^\s:]+:)?(?=[^\s:]+$)/, "") }));
  if (names - missing < minFullNameCells && bare.some(({ type }, i) => type !== body[i]?.type))
    return fitted(bare, width);
  const room = Math.max(minCells, names - missing);
  const typeRoom = Math.max(minCells, types - Math.max(0, missing - (names - room)));
  return body.map((row) => ({ ...row, type: cut(row.type, typeRoom, "end"), name: cut(row.name, room, "start") }));
}

const widest = (body: readonly TableRow[], textOf: (row: TableRow) => string, minimum = 0): number =>
  Math.max(minimum, ...body.map((row) => widthOf(textOf(row))));

/** Columns of the status. */
const statusCells = (body: readonly TableRow[]): number =>
  widest(body, withoutDots, 4) + Math.max(0, ...body.map(({ dots }) => dots));

const graphemes = new Intl.Segmenter();

function cut(text: string, cells: number, where: "start" | "end"): string {
  if (widthOf(text) <= cells) return text;
  let kept = Array.from(graphemes.segment(text), ({ segment }) => segment);
  while (widthOf(kept.join("")) >= cells) kept = where === "start" ? kept.slice(1) : kept.slice(0, -1);
  return where === "start" ? `…${kept.join("")}` : `${kept.join("")}…`;
}

/** Makes the table of a run: a head, then the resources as a tree by parent. */
export function table(rows: Rows, width = Infinity): Line[] {
  const body = fitted(flattened(rows, branch(rows, rows.stack, childrenOf(rows)), "", ""), width - 1);
  const typeCells = widest(body, ({ type }) => type, 4);
  const nameCells = widest(body, ({ name }) => name, 4);
  const head = ["Type", "Name", rows.run.preview ? "Plan" : "Status"];
  if (body.some((row) => row.info.length > 0)) head.push("Info");
  const columns = [typeCells, nameCells, Math.max(statusCells(body), head[2]?.length ?? 0)];
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
      { text: `  ${padText(row.type, typeCells)}  ${padText(row.name, nameCells)}  ` },
      ...row.status,
      { text: " ".repeat(Math.max(0, (columns[2] ?? 0) - widthOf(toPlainText(row.status))) + 2) },
      ...row.info,
    ]),
  ];
}

const withoutDots = (row: TableRow): string => row.status[0]?.text ?? "";

function childrenOf(rows: Rows): Map<ResourceRow, ResourceRow[]> {
  const children = new Map<ResourceRow, ResourceRow[]>();
  for (const row of rows.all) {
    const parent = rows.parentOf(row);
    if (parent) children.set(parent, [...(children.get(parent) ?? []), row]);
  }
  return children;
}

function branch(rows: Rows, row: ResourceRow, children: Map<ResourceRow, ResourceRow[]>): Branch {
  const below = (children.get(row) ?? []).map((child) => branch(rows, child, children));
  return { row, children: below.filter((child) => child.children.length > 0 || hasNews(rows, child.row)) };
}

/** True if a row has something to show of its own; others only hold their children. */
function hasNews(rows: Rows, row: ResourceRow): boolean {
  if (isStackUrn(row.urn) || row.state === "failed" || toShownOp(rows, row, true) !== "same") return true;
  if (row.messages.length > 0) return true;
  return row.live !== undefined && !rows.finished;
}

function flattened(rows: Rows, { row, children }: Branch, prefix: string, below: string): TableRow[] {
  const { glyph, style } = opWords[toShownOp(rows, row, true)];
  return [
    {
      glyph: { text: glyph, style },
      type: prefix + shortType(row.type),
      name: oneLine(row.name),
      status: [status(rows, row, true), ...suffix(rows, row, style)],
      info: info(rows, row),
      diff: rows.finished ? diffInfo(row) : [],
      dots,
      isOver: rows.finished,
    },
    ...children.flatMap((child, i) => {
      const last = i === children.length - 1;
      return flattened(rows, child, `${below}${last ? "└─ " : "├─ "}`, `${below}${last ? "   " : "│  "}`);
    }),
  ];
}

function suffix(rows: Rows, row: ResourceRow, style: Style): Line {
  if (isDone(rows, row) || (!isStackUrn(row.urn) && (row.op === "same" || row.state !== "running"))) return [];
  return [{ text: ".".repeat(Math.max(0, Math.floor((rows.now - row.began) / 1000)) % (dots + 1)), style }];
}

/** Makes a line of one row, for output that is kept as a log. */
export function logLine(rows: Rows, row: ResourceRow, extra: Line): Line {
  const { glyph, style } = opWords[toShownOp(rows, row, false)];
  const stage = status(rows, row, false);
  const isSized = row.size !== undefined && stage.text !== "" && toPlainText(extra) !== "";
  const columns: Line[] = [
    [{ text: oneLine(row.type) }],
    [{ text: oneLine(row.name) }],
    isSized ? [stage, { text: ":" }] : [stage],
    extra,
  ];
  const filled = columns.filter((column) => toPlainText(column) !== "");
  return [{ text: " " }, { text: glyph, style }, ...filled.flatMap((column) => [{ text: " " }, ...column])];
}
