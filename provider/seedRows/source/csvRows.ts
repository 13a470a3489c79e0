import { fieldKinds, fits } from "../../../platform/contract/fields.ts";
import type { RowData } from "../../../platform/contract/values.ts";
import { jsonIn, entryIn } from "../../../platform/contract/wire.ts";
import { quote, some } from "../../../platform/messages/text.ts";
import { csvRecords, passedOver } from "./csv.ts";
import { isRounded, rounded, findRounded } from "./exactNumbers.ts";
import { holds, mayHold, nameless, noName } from "./nameless.ts";
import { isHidden, unread, type CellType, type Reading, type Source, type SourceRow } from "./source.ts";
import { linesOf, type Chunks } from "./textFiles.ts";

/** The rows of a CSV, whose first line has the labels. */
export async function* csvRows(reading: Reading, chunks: Chunks): AsyncGenerator<SourceRow[]> {
  const { wrong, refuse, takes } = reading;
  const isTaken = takes && ((at: number) => at === 0 || takes(at - 1));
  let columns: Column[] | undefined;
  for await (const records of csvRecords(linesOf(chunks), undefined, isTaken)) {
    const rows: SourceRow[] = [];
    for (const record of records) {
      if (record === passedOver) {
        rows.push(unread);
        continue;
      }
      const { line } = record;
      if ("wrong" in record) {
        if (columns === undefined) refuse(line, record.wrong);
        wrong({ line, text: record.wrong });
      } else if (columns === undefined) columns = header(reading, record);
      else {
        const values = cells(reading, columns, record);
        if (values) rows.push({ line, values });
      }
    }
    yield rows;
  }
}

interface Column {
  label: string;
  type: CellType;
}

function header({ source, refuse }: Reading, { line, cells: labels }: { line: number; cells: string[] }): Column[] {
  const lacking = source.key?.find((label) => !labels.includes(label));
  const advice = (what: string): string => (source.sensitive ? `correct ${what} or the first line` : adviceOn(labels));
  if (lacking !== undefined) refuse(line, `there is no label ${quote(lacking)}, which key names: ${advice("key")}`);
  const empty = labels.findIndex((label) => label.trim() === "");
  if (empty >= 0) refuse(line, `column ${empty + 1} has no label`);
  if (labels.includes(nameless)) refuse(line, noName);
  const twice = labels.find((label, index) => labels.indexOf(label) < index);
  if (twice !== undefined) {
    const which = source.sensitive ? `of column ${labels.indexOf(twice) + 1}` : quote(twice);
    refuse(line, `the label ${which} stands there twice`);
  }
  const strange = Object.keys(source.types ?? {}).find((label) => !labels.includes(label));
  if (strange !== undefined) refuse(line, `there is no label ${quote(strange)}, which types names: ${advice("types")}`);
  return labels.map((label) => ({ label, type: entryIn(source.types, label) ?? "text" }));
}

function adviceOn(labels: readonly string[]): string {
  const separator = [";", "\t", "|"].find((mark) => labels.length === 1 && labels[0]?.includes(mark));
  if (separator !== undefined) return `separate the cells by commas, not by ${JSON.stringify(separator)}`;
  return `the labels there are ${some(
    labels.map((label) => JSON.stringify(label)),
    20,
  )} (case and spaces count)`;
}

/** The row of a record, undefined when something is wrong with it. */
function cells(
  { source, wrong }: Reading,
  columns: readonly Column[],
  { line, cells }: { line: number; cells: string[] },
): RowData | undefined {
  if (cells.length !== columns.length) {
    wrong({
      line,
      text: "the row has another number of cells than the first line; quote cells that hold commas",
    });
    return undefined;
  }
  const values: RowData = {};
  let whole = true;
  // Counted, because a million rows come by here.
  for (let index = 0; index < columns.length; index++) {
    const { label, type } = columns[index] ?? { label: "", type: "text" };
    const cell = cells[index] ?? "";
    const value = cell === "" ? null : readCell(cell, type);
    if (value === undefined) {
      const [is, write] = wanted(type);
      const about = `${label} is ${is}: ${write}`;
      wrong({
        line,
        about,
        ...shownKey(source, columns, cells),
        text: isHidden(source, label) ? about : `${label} is ${is}, not ${quote(cell)}: ${write}`,
      });
      whole = false;
    } else if (
      (type === "number" && isRounded(cell.trim(), Number(value))) ||
      ((type === "json" || type === "checkbox") && findRounded(cell))
    ) {
      wrong({ line, text: `${label} ${rounded}` });
      whole = false;
    } else if (type === "json" && mayHold(cell) && holds(value)) {
      wrong({ line, text: `${label}: ${noName}` });
      whole = false;
    } else values[label] = value;
  }
  return whole ? values : undefined;
}

/** The natural key of a row that can't be read whole: of one label, and no secret. */
function shownKey(source: Source, columns: readonly Column[], cells: readonly string[]): { key?: string } {
  const [label, ...more] = source.key ?? [];
  if (label === undefined || more.length > 0 || isHidden(source, label)) return {};
  const key = cells[columns.findIndex((column) => column.label === label)];
  return key ? { key } : {};
}

/** Describes the expected content of a cell of that type, and how to write it. */
function wanted(type: CellType): readonly [is: string, write: string] {
  switch (type) {
    case "boolean":
      return ["a boolean", "write true or false"];
    case "json":
      return ["JSON", 'write a value of it, texts in double quotes, as ["true"]'];
    case "number":
      return ["a number", "write it as 12 or -1.5"];
    case "text":
    case "date":
    case "checkbox":
      return fieldKinds[type];
  }
}

/** The value of a cell that is not empty, undefined when it is not of that type. */
export function readCell(cell: string, type: CellType): unknown {
  switch (type) {
    case "text":
      return cell;
    case "number":
      return /^\s*[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?\s*$/i.test(cell) ? Number(cell) : undefined;
    case "boolean":
      return cell === "true" ? true : cell === "false" ? false : undefined;
    case "date":
      return fits("date", cell) ? cell : undefined;
    case "checkbox": {
      const value = jsonIn(cell);
      return fits("checkbox", value) ? value : undefined;
    }
    case "json":
      return jsonIn(cell);
  }
}
