import { quote } from "../../provider/messages/text.ts";
import { formatOf } from "../../provider/sources/formats.ts";
import { SourceError } from "../../provider/sources/read.ts";
import { CsvText } from "./csvText.ts";
import type { ColumnFileEdit, RowFileEdit, ValueFileEdit } from "./kinds.ts";
import { editRows } from "./rowFiles.ts";
import { EditRefusal, positionAt } from "./splices.ts";
import { decode, encode } from "./texts.ts";
import { editValues } from "./valueFiles.ts";

/*
 * The editor of files: changes values at their place, and leaves all other bytes as they are.
 *
 *   const { files, refused } = await planEdits(edits, (file) => readToEdit(folder, file));   // nothing is written
 *   await writeFiles(folder, files);                                        // writing.ts: all beside first, then renamed
 *
 * There are three kinds of edits. A `column` edit adds or renames a column of a CSV, before all others. A `row` edit changes, removes or adds a row of a seed's file (CSV, JSON, NDJSON, YAML),
 * found by its natural key. A `value` edit sets, removes or appends a value of a YAML or JSON file, found by a path of
 * keys; an item of a list is found by what it holds. What is not where the edit expects it, is repeated by an alias, can't be
 * written in the file's format, or would change anything else is refused with its place and the reason. Edits that are not
 * refused are made. After all of them the file is read again, by the reader that a seed or an Environment has, and must
 * mean what was asked: otherwise all its edits are refused.
 *
 * An edit knows nothing of secrets and layers: cli/changes/placing decides which file and which verb it is.
 */

export type FileEdit = ValueFileEdit | RowFileEdit | ColumnFileEdit;

/** A file with its edits made. */
export interface EditedFile {
  file: string;
  /** Undefined where the file is new. */
  before: Buffer | undefined;
  after: Buffer;
}

/** An edit that is not made. */
export interface RefusedEdit {
  edit: FileEdit;
  /** `file:line:column`, or the file. */
  place: string;
  reason: string;
}

export interface EditedFiles {
  files: EditedFile[];
  refused: RefusedEdit[];
}

export const fileOf = (edit: FileEdit): string => (edit.kind === "row" ? edit.source.source : edit.file);

/**
 * Makes edits in bytes that `read` gives; it gives undefined where there is no file, which is then made (YAML alone).
 * Writes nothing. The files are in the order of their first edits; one that stays as it was is left out.
 */
export async function planEdits(
  edits: readonly FileEdit[],
  read: (file: string) => Buffer | undefined | Promise<Buffer | undefined>,
): Promise<EditedFiles> {
  const files: EditedFile[] = [];
  const refused: RefusedEdit[] = [];
  for (const [file, own] of Map.groupBy(edits, fileOf)) {
    const refuse = (edit: FileEdit, { message, offset }: EditRefusal, text = ""): void => {
      const { line, column } = positionAt(text, offset ?? 0);
      refused.push({ edit, place: offset === undefined ? file : `${file}:${line}:${column}`, reason: message });
    };
    try {
      const before = await read(file);
      const rows = own.filter((edit) => edit.kind === "row");
      const values = own.filter((edit) => edit.kind === "value");
      const columns = own.filter((edit) => edit.kind === "column");
      let after = before ?? Buffer.alloc(0);
      if (columns.length > 0) after = editColumns(after, columns);
      if (rows.length > 0) after = await editRows(after, rows, refuse);
      if (values.length > 0) after = editValues(after, values, refuse, formatOf(file) === ".json");
      if (!before || !after.equals(before)) files.push({ file, before, after });
    } catch (error) {
      if (!(error instanceof EditRefusal || error instanceof SourceError)) throw error;
      refused.push(...own.map((edit) => ({ edit, place: file, reason: error.message })));
    }
  }
  return { files, refused };
}

/** Renames columns, and adds those that are missing. Throws an EditRefusal. */
function editColumns(bytes: Buffer, edits: readonly ColumnFileEdit[]): Buffer {
  const { text, mark } = decode(bytes, true);
  const csv = new CsvText(text);
  const names = new Map(edits.flatMap(({ label, now }) => (now === undefined ? [] : [[label, now] as const])));
  const strange = [...names.keys()].find((label) => !csv.labels.includes(label));
  if (strange !== undefined) throw new EditRefusal(`has no column ${quote(strange)}`);
  const labels = csv.labels.map((label) => names.get(label) ?? label);
  const added = edits.flatMap(({ label, now }) => (now === undefined && !labels.includes(label) ? label : []));
  return encode(csv.withColumns([...new Set(added)], names), mark);
}
