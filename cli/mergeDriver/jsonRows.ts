import { isObject } from "../../provider/contract/wire.ts";
import type { Cells } from "../../provider/reconcile/merging/records.ts";
import { parseJsonTree } from "../edits/jsonTree.ts";
import { runSteps } from "../edits/rounds.ts";
import { EditRefusal } from "../edits/splices.ts";
import { lineEndOf } from "../edits/splices.ts";
import { UnreadableRows, type RowFormat, type RowsText, type RowText } from "./rowTexts.ts";

const common: Omit<RowFormat, "parse" | "comma"> = {
  writeHead: ({ head }) => head,
  writeChanged: (like, { raw, cells: before }, cells) =>
    runSteps(raw, parseJsonTree, [
      {
        run: (round) => {
          const { root } = round.tree;
          for (const label of new Set([...Object.keys(before), ...Object.keys(cells)])) {
            const member = root.members.find(({ name }) => name === label);
            const value = cells[label];
            if (member && value === undefined) round.drop({ parent: root, holder: undefined }, member);
            else if (member) round.set(root, member, value);
            else if (value !== undefined) round.add({ parent: root, holder: undefined }, label, value);
          }
        },
        refuse: ({ message }) => {
          throw new UnreadableRows(message);
        },
      },
    ]).replaceAll(/\r?\n/g, lineEndOf(like.head + like.separator)),
  writeNew: (like, { raw }) => raw.replaceAll(/\r?\n/g, lineEndOf(like.head + like.separator)),
};

/** Merges of JSON files that are a list of rows. */
export const jsonFormat: RowFormat = { ...common, comma: ",", parse: parseJson };

/** Merges of files with one JSON object on each line. */
export const ndjsonFormat: RowFormat = { ...common, comma: "", parse: parseNdjson };

function parseJson(text: string): RowsText {
  const mark = text.startsWith("\uFEFF") ? 1 : 0;
  const lineEnd = lineEndOf(text);
  const body = text.slice(mark);
  if (body.trim() === "")
    return { columns: undefined, head: `${text}[`, rows: [], tail: `]${lineEnd}`, separator: `,${lineEnd}  ` };
  const { root } = treeOf(body);
  if (root.kind !== "list") throw new UnreadableRows("is no list of rows");
  let end = root.start + 1;
  const rows = root.members.map(({ node }, index): RowText => {
    const lead = index === 0 ? "" : body.slice(end, node.start);
    end = node.end;
    return { raw: body.slice(node.start, node.end), lead, cells: cellsOf(node.plain()) };
  });
  const first = root.members[0]?.node.start ?? end;
  const inner = body.slice(root.start + 1, first);
  return {
    columns: undefined,
    head: text.slice(0, mark) + body.slice(0, first),
    rows,
    tail: body.slice(end),
    separator: rows[1]?.lead ?? (inner.trim() === "" && inner !== "" ? `,${inner}` : `,${lineEnd}  `),
  };
}

function parseNdjson(text: string): RowsText {
  const separator = lineEndOf(text);
  const rows: RowText[] = [];
  let head = "";
  let between = "";
  for (const [line = ""] of text.matchAll(/[^\n]*\n|[^\n]+$/g)) {
    const raw = line.replace(/^\uFEFF/, "").trim();
    const start = line.indexOf(raw);
    if (raw === "") {
      between += line;
      continue;
    }
    const lead = between + line.slice(0, start);
    if (rows.length === 0) head = lead;
    rows.push({ raw, lead: rows.length === 0 ? "" : lead, cells: cellsOf(treeOf(raw).root.plain()) });
    between = line.slice(start + raw.length);
  }
  const tail = rows.length === 0 ? separator : between;
  return { columns: undefined, head: rows.length === 0 ? "" : head, rows, tail, separator };
}

function treeOf(text: string): ReturnType<typeof parseJsonTree> {
  try {
    return parseJsonTree(text);
  } catch (error) {
    if (error instanceof EditRefusal) throw new UnreadableRows("is not valid JSON");
    throw error;
  }
}

function cellsOf(value: unknown): Cells {
  if (!isObject(value)) throw new UnreadableRows("is no list of rows");
  return value;
}
