import type { CallOptions } from "../../../provider/client/http/call.ts";
import { TableReads } from "../../../provider/client/lists/tableReads.ts";
import type { Row } from "../../../provider/contract/values.ts";

/** Reads of tables that remember how many rows each has. */
export class CountingReads extends TableReads {
  readonly counts = new Map<string, number>();

  override async *read(table: string, call: CallOptions = {}): AsyncGenerator<Row[], void, undefined> {
    let count = 0;
    for await (const page of super.read(table, call)) {
      count += page.length;
      yield page;
    }
    this.counts.set(table, count);
  }
}
