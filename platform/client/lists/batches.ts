import { maxRowsPerInsert } from "../../contract/rows.ts";

const encoder = new TextEncoder();

/** Bounds of a batch. */
export interface BatchOptions<Row> {
  /** Highest number of rows of a batch (default 10,000, the most that the platform takes). */
  maxRows?: number;
  /** Highest number of rows of the first batch (default `maxRows`). */
  firstRows?: number;
  /** Highest number of bytes of JSON (default 8 MiB). A larger row makes a batch of its own. */
  maxBytes?: number;
  /** Writes a row as JSON (default `JSON.stringify`). */
  text?: (row: Row) => string;
}

/**
 * Groups rows into batches within the bounds, in the same order. `blocks` brings several rows at a time, since awaiting
 * each row would take longer than all the rest.
 */
export async function* batches<Row>(
  blocks: AsyncIterable<readonly Row[]> | Iterable<readonly Row[]>,
  {
    maxRows = maxRowsPerInsert,
    firstRows = maxRows,
    maxBytes = 8 * 1024 * 1024,
    text = JSON.stringify,
  }: BatchOptions<Row> = {},
): AsyncGenerator<Row[], void, undefined> {
  let batch: Row[] = [];
  let bytes = 0;
  let most = firstRows;
  // Nothing here keeps a batch that was taken: whoever waits to send the next one would hold the memory of two.
  const taken = (): Row[] => {
    const full = batch;
    batch = [];
    bytes = 0;
    most = maxRows;
    return full;
  };
  for await (const rows of blocks) {
    for (const row of rows) {
      const size = encoder.encode(text(row)).length + 1; // and a comma
      if (batch.length > 0 && (batch.length >= most || bytes + size > maxBytes)) {
        yield taken();
      }
      batch.push(row);
      bytes += size;
    }
  }
  if (batch.length > 0) yield taken();
}
