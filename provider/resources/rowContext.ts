import type { CallOptions } from "../client/client.ts";
import type { Context } from "./resource.ts";

/** What rows are read and written with: calls that are given this are counted. */
export type RowContext = Context & Pick<CallOptions, "onCall">;
