import type { Database } from "./database.ts";
import type { Manner } from "./settings.ts";
import type { User } from "./users.ts";

/** What a handler gets beside the request: the data, the caller, the time. */
export interface CallContext extends Manner {
  database: Database;
  /** Milliseconds since the epoch. */
  now: number;
  /** IDs that sort in the order in which they were made. */
  newID: () => string;
  /** Address under which this platform is reached, without a slash at the end. */
  url: string;
  /** The caller; throws for endpoints that take no token. */
  readonly user: User;
  /** The token that came with the request. */
  token: string | undefined;
  /** Notes something about the call in its log entry, for people. */
  remark: (words: string) => void;
  /** What was fetched for the call before its transaction began. */
  fetched: unknown;
}
