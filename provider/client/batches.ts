import { maxRowsPerInsert } from "../contract/rows.ts";

/** Bounds of a batch. */
export interface BatchOptions<Row> {
  maxRows?: number;
  /** Bytes of JSON. A single row that is larger goes alone. */
  maxBytes?: number;
  /** The part of a row that is sent, where a row carries more than that. */
  body?: (row: Row) => unknown;
}

/** Rows in batches that keep to a number of rows and of bytes, in the same order. */
export async function* batches<Row>(
  rows: AsyncIterable<Row> | Iterable<Row>,
  { maxRows = maxRowsPerInsert, maxBytes = 8 * 1024 * 1024, body = (row) => row }: BatchOptions<Row> = {},
): AsyncGenerator<Row[], void, undefined> {
  let batch: Row[] = [];
  let bytes = 0;
  for await (const row of rows) {
    const size = Buffer.byteLength(JSON.stringify(body(row))) + 1; // and a comma
    if (batch.length > 0 && (batch.length >= maxRows || bytes + size > maxBytes)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(row);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}
