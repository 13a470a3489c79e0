import type { Endpoints, EndpointName, GivenAnswerOf, ParsedRequestOf } from "../../platform/contract/endpoints.ts";
import type { Database } from "./database.ts";
import type { EmulatedDialect } from "./settings.ts";

/** Someone with an account. An invited user has never signed in and has no password. */
export interface User {
  id: string;
  email: string;
  /** Administrator of the whole platform. */
  admin: boolean;
  invited: boolean;
}

/** Forms that a platform may read a value back in, other than the one that it was written in. */
export const otherForms = ["midnight", "trimmed", "numberAsText", "checkboxAsText"] as const;
export type OtherForm = (typeof otherForms)[number];

/** Given to a handler beside the request: the data, the caller, the time. */
export interface CallContext extends EmulatedDialect {
  database: Database;
  /** Forms that values of rows are read back in, other than the habits name. */
  otherForms: readonly OtherForm[];
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
  /** Result of the preparation that ran before the call's transaction. */
  fetched: unknown;
}

/** Carries an endpoint out, inside a transaction: whatever it throws, nothing is changed. */
export type Handler<Name extends EndpointName> = (
  request: ParsedRequestOf<Name>,
  call: CallContext,
) => GivenAnswerOf<Name>;

export type Handlers = { [Name in keyof Endpoints]: Handler<Name> };
