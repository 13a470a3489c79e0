import type { Row } from "../../../provider/contract/values.ts";
import type { Profile } from "../../../provider/habits/profile.ts";
import type { ReadingCalls } from "./calls.ts";
import type { Network, Reached } from "./network.ts";
import type { Subject } from "./subject.ts";

/** Result of reading a table. */
export interface TableLook {
  rows: number;
  /** True if these were all rows. */
  isAll: boolean;
  /** IDs of the rows. */
  ids: readonly string[];
  /** True if a row names its parent. */
  namesParents: boolean;
  /** Rows of each page, as they came. */
  pages: number[];
  labels: ReadonlySet<string>;
  /** A row that has a value in each label of the key, where there is one. */
  sample: Row | undefined;
  /** Rows without a value in a label of the key. */
  keyless: number;
  /** How often each key is there that more than one row has. */
  twice: ReadonlyMap<string, number>;
}

/** State shared by the checks: the subject, access to it, and findings of earlier checks. */
export interface CheckContext {
  subject: Subject;
  network: Network;
  signal: AbortSignal;
  /** The time in milliseconds since the epoch. */
  now: () => number;
  /** Milliseconds that one call may take. */
  timeoutMs: number;
  /** Highest number of calls to the platform. */
  most: number;
  learned: {
    /** Address of the platform; of an emulator in this process once it listens. */
    url?: URL;
    /** Ends an emulator that was started for this. */
    stopEmulator?: () => Promise<void>;
    /** The platform's answer without a session, and the offset of our clock at that time. */
    answer?: Reached;
    calls?: ReadingCalls;
    /** The profile that is configured. */
    profile?: Profile | undefined;
    tables: Map<string, TableLook>;
    /** True once a row of any table has named its parent. */
    showsParents?: boolean;
    /** True if the platform gives rows in its own form when it is asked to. */
    raw?: { isKnown: boolean };
  };
}
