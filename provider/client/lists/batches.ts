import { maxRowsPerInsert } from "../../contract/rows.ts";

/** Bounds of a batch. */
export interface BatchOptions<Row> {
  /** Rows of a batch (default 10,000, the most that the platform takes). */
  maxRows?: number;
  /** Bytes of JSON (default 8 MiB). A single row that is larger goes alone. */
  maxBytes?: number;
  /** A row as JSON, as it is sent. */
  text?: (row: Row) => string;
}

/**
 * Rows in batches that keep to a number of rows and of bytes, in the same order. They come in `blocks`, some at a time:
 * to wait for each one would take longer than all the rest.
 */
export async function* batches<Row>(
  blocks: AsyncIterable<readonly Row[]> | Iterable<readonly Row[]>,
  { maxRows = maxRowsPerInsert, maxBytes = 8 * 1024 * 1024, text = JSON.stringify }: BatchOptions<Row> = {},
): AsyncGenerator<Row[], void, undefined> {
  let batch: Row[] = [];
  let bytes = 0;
  for await (const rows of blocks) {
    for (const row of rows) {
      const size = Buffer.byteLength(text(row)) + 1; // and a comma
      if (batch.length > 0 && (batch.length >= maxRows || bytes + size > maxBytes)) {
        yield batch;
        batch = [];
        bytes = 0;
      }
      batch.push(row);
      bytes += size;
    }
  }
  if (batch.length > 0) yield batch;
}
