// Generated from the definitions of provider/resources and provider/functions by `make docs`: change those, not this.
/* eslint-disable max-lines */
import type { Input, Output } from "@pulumi/pulumi";
import type { CellsOf, InputsOf, LabelOf, OutputsOf, ParentRows, RowsOf } from "./resourceClass.ts";

type EitherEmailOrUserID = "exactly one of email and userID is set";

type EitherRowsOrSource = "exactly one of rows and source is set";

/** Arguments of Organization. */
export interface OrganizationArgs {
  /**
   * Name, unique on the platform.
   * @example "Acme"
   */
  name: Input<string>;
  /**
   * Purpose. Not changed if unset, cleared by null or an empty text.
   * @example "Makes everything."
   */
  description?: Input<string | null>;
  /** User ID of the first administrator; the caller when unset. Acts when the organization is created. */
  adminID?: Input<string>;
  /** On a destroy, also delete teams that nobody declares, with their members. */
  forceDestroy?: Input<boolean>;
  /** Take over what already has the ID of this resource, such as after a lost state. Import one that was created by hand. */
  adopt?: Input<boolean>;
}

/** Outputs of Organization. */
export type OrganizationOutputs = OutputsOf<OrganizationArgs>;

/** Arguments of Team. */
export interface TeamArgs {
  /** Organization that the team belongs to. */
  organizationID: Input<string>;
  /**
   * Name of the team.
   * @example "Crew"
   */
  name: Input<string>;
  /**
   * Purpose. Not changed if unset, cleared by null or an empty text.
   * @example "Runs the place."
   */
  description?: Input<string | null>;
  /** User ID of an administrator. A new one is added; the former one keeps the role. */
  adminID?: Input<string>;
  /** On a destroy, also remove members whom nobody declares. */
  forceDestroy?: Input<boolean>;
  /** Take over what already has the ID of this resource, such as after a lost state. Import one that was created by hand. */
  adopt?: Input<boolean>;
}

/** Outputs of Team. */
export type TeamOutputs = OutputsOf<TeamArgs>;

/** Arguments of TeamMember beside `email` and `userID`. */
export interface TeamMemberSettings {
  /** Team that the user is a member of. */
  teamID: Input<string>;
  /**
   * Not changed if unset; a new member is a plain member.
   * @example "admin"
   */
  role?: Input<"admin" | "member">;
  /** Last day (UTC) of the membership. After it, the member counts as not declared. */
  until?: Input<string>;
  /** Where the invitation leads. Acts when a user is invited. */
  targetRoute?: Input<"app" | "go">;
  /** App that the invitation opens. Acts when a user is invited. */
  targetInitialApp?: Input<string>;
  /** Screen that the invitation opens. Acts when a user is invited. */
  targetInitialScreen?: Input<string>;
}

/** Arguments of TeamMember with `email`, not `userID`. */
export interface TeamMemberByEmail extends TeamMemberSettings {
  /**
   * The user's e-mail address; an unknown one is invited. Either this or userID.
   * @example "ada@example.com"
   */
  email: Input<string>;
  /** Excluded by `email`. */
  userID?: EitherEmailOrUserID;
}

/** Arguments of TeamMember with `userID`, not `email`. */
export interface TeamMemberByUserID extends TeamMemberSettings {
  /** The user's ID. Either this or email. */
  userID: Input<string>;
  /** Excluded by `userID`. */
  email?: EitherEmailOrUserID;
}

/** Arguments of TeamMember: exactly one of `email` and `userID` is set. */
export type TeamMemberArgs = TeamMemberByEmail | TeamMemberByUserID;

/** Outputs of TeamMember. */
export interface TeamMemberOutputs extends OutputsOf<TeamMemberSettings> {
  /** The user's e-mail address; an unknown one is invited. Either this or userID. */
  readonly email: Output<string | undefined>;
  /** The user's ID. Either this or email. */
  readonly userID: Output<string | undefined>;
  /** ID of the user, also of one who was named by address. */
  readonly memberUserID: Output<string>;
}

/** Arguments of TeamRoster. */
export interface TeamRosterArgs {
  /** Team whose members these are. */
  teamID: Input<string>;
  /**
   * Roles, admin or member, by e-mail address (an unknown one is invited) or by user ID. Either this or source.
   * @example {"ada@example.com":"admin","grace@example.com":"member"}
   */
  members?: Input<Record<string, Input<"admin" | "member">>>;
  /** Last days (UTC) of members, by their names in members. After it, a member counts as not declared. */
  until?: Input<Record<string, Input<string>>>;
  /** File with the members, relative to the program's folder, instead of members: CSV with a column email and, if needed, role, until and team; or JSON, NDJSON or YAML. */
  source?: Input<string>;
  /** The team in source, if it has a column team. */
  team?: Input<string>;
  /**
   * authoritative: also removes members who were never declared. additive: leaves them alone. In both, somebody who is no longer declared leaves the team.
   * @default "authoritative"
   */
  mode?: Input<"authoritative" | "additive">;
  /** Addresses or user IDs of members to leave alone unless they are declared; * stands for any text. */
  ignore?: Input<Input<string>[]>;
  /**
   * Largest part of the managed members (from 10 on; in a team that had members before the roster, from the first on) that one run may remove, as a fraction of 1.
   * @default 0.25
   */
  maxRemovals?: Input<number>;
  /** Number of administrators that must remain. If unset, the last one is neither removed nor demoted. */
  minAdmins?: Input<number>;
  /**
   * True if the account that makes the calls keeps its place, even on a destroy. Removing it from the members or demoting it is refused.
   * @default true
   */
  keepSelf?: Input<boolean>;
  /** Where the invitation leads. Acts when a user is invited. */
  targetRoute?: Input<"app" | "go">;
  /** App that the invitation opens. Acts when a user is invited. */
  targetInitialApp?: Input<string>;
  /** Screen that the invitation opens. Acts when a user is invited. */
  targetInitialScreen?: Input<string>;
}

/** Outputs of TeamRoster. */
export interface TeamRosterOutputs extends OutputsOf<
  Omit<TeamRosterArgs, "members">,
  "mode" | "maxRemovals" | "keepSelf"
> {
  /** Roles of the members by e-mail address or user ID. */
  readonly members: Output<Record<string, "admin" | "member">>;
  /** User IDs of the members, in the order of their sorted names. */
  readonly userIDs: Output<string[]>;
}

/** Arguments of SeedRows beside `rows` and `source`. */
export interface SeedRowsSettings<Row extends object = Record<string, unknown>> {
  /**
   * Data table ID (microAppID) that the rows go into.
   * @example "countries"
   */
  table: Input<string>;
  /**
   * The natural key: the label that identifies a row, or a list of labels. With another key, the same rows keep their IDs.
   * @example "Code"
   */
  key: Input<LabelOf<NoInfer<Row>> | Input<LabelOf<NoInfer<Row>>>[]>;
  /** Rows in addition to those of rows or source, by label. */
  additions?: Input<Input<CellsOf<NoInfer<Row>>>[]>;
  /** Changed fields of rows in rows or source, each with the natural key of its row. */
  changes?: Input<Input<Partial<CellsOf<NoInfer<Row>>>>[]>;
  /** Natural keys of rows in rows or source that the seed leaves out; for several labels a list of their values. */
  removals?: Input<Input<string | number | boolean | Input<string | number | boolean>[]>[]>;
  /** Types of values by label. The cells of a CSV are read by them; text by default. A date is ISO 8601 text, a checkbox a JSON list of texts. An empty cell is no value. Values that mean the same in such a field are equal: a day and its midnight UTC, a number and its text. */
  types?: Input<Record<string, Input<"text" | "number" | "boolean" | "date" | "checkbox" | "json">>>;
  /** Separator of the cells of a CSV. By default a comma, or a semicolon or tab if the first line has these and no comma, or what a first line `sep=;` says. */
  delimiter?: Input<"," | ";" | "\t" | "|">;
  /**
   * exact: also removes owned rows that left the source, and clears labels that left an owned row. upsert: does neither. insertOnly: does not change existing rows either. updateOnly: only changes existing rows, whoever created them; a key that the table lacks is an error.
   * @default "exact"
   */
  mode?: Input<"exact" | "upsert" | "insertOnly" | "updateOnly">;
  /** Labels that others write: not compared, changed or cleared in existing rows. A value in the source goes into new rows. Not part of the natural key. */
  ignoreLabels?: Input<Input<string>[]>;
  /** Requirements of the table. The declared rows are tested before anything is sent, all rows of the table before and after a run writes. A run fails if a requirement does, and names the rows. */
  expect?: Input<{
    unique?: Input<Input<string>[]>;
    notNull?: Input<Input<string>[]>;
    acceptedValues?: Input<Record<string, Input<Input<string | number | boolean>[]>>>;
    relationships?: Input<Record<string, Input<{ table: Input<string>; key: Input<string> }>>>;
    rowCount?: Input<{ min?: Input<number>; max?: Input<number> }>;
  }>;
  /**
   * Linked-table labels whose values are keys of rows in another table: label → {table, key}.
   * @example {"Currency":{"table":"currencies","key":"Code"}}
   */
  references?: Record<string, RowsOf>;
  /** For a sub-table: the parent rows, and the column of the source that holds the parent's key. */
  parent?: ParentRows;
  /** IDs or e-mail addresses, which are looked up, of users who may see the rows. Acts on insert. */
  viewers?: Input<Input<string>[]>;
  /** IDs of teams whose members may see the rows. Acts on insert. */
  teamViewers?: Input<Input<string>[]>;
  /** ID or e-mail address, which is looked up, of the user who becomes the creator of the rows. */
  userID?: Input<string>;
  /**
   * Effect of a changed viewers, teamViewers or userID on existing rows: none (newRows), or an error. Viewers under the label of their field change like any cell.
   * @default "error"
   */
  onViewersChange?: Input<"newRows" | "error">;
  /** Do not run the table's action rules. For controlled administration and migrations. */
  ignoreActionRules?: Input<boolean>;
  /**
   * Effect of an edit by hand on an owned row: it is repaired, kept, or an error.
   * @default "overwrite"
   */
  onConflict?: Input<"overwrite" | "keepLive" | "error">;
  /**
   * Largest part of the owned rows (from 10 on) that one run may remove, or find gone from the platform, as a fraction of 1.
   * @default 0.25
   */
  maxRemovals?: Input<number>;
  /**
   * Whether a destroy deletes the owned rows or leaves them.
   * @default "delete"
   */
  onDestroy?: Input<"delete" | "retain">;
  /** The rows are secret: messages and diffs have counts, but no keys or values. Set automatically if rows are a secret. */
  sensitive?: Input<boolean>;
  /** Labels whose values are secret: previews, drift and messages say that they change, but not what they are. The rest of the rows is shown. Not part of the natural key. */
  secretLabels?: Input<Input<string>[]>;
  /** Take over what already exists on the platform, instead of refusing. */
  adopt?: Input<boolean>;
}

/** Arguments of SeedRows with `rows`, not `source`. */
export interface SeedRowsByRows<Row extends object = Record<string, unknown>> extends SeedRowsSettings<Row> {
  /** The rows themselves, by label. Either this or source. */
  rows: Input<Input<CellsOf<NoInfer<Row>>>[]>;
  /** Excluded by `rows`. */
  source?: EitherRowsOrSource;
}

/** Arguments of SeedRows with `source`, not `rows`. */
export interface SeedRowsBySource<Row extends object = Record<string, unknown>> extends SeedRowsSettings<Row> {
  /**
   * File with the rows, relative to the project: .csv, .json, .ndjson or .yaml. Either this or rows.
   * @example "data/countries.csv"
   */
  source: Input<string>;
  /** Excluded by `source`. */
  rows?: EitherRowsOrSource;
}

/** Arguments of SeedRows: exactly one of `rows` and `source` is set. */
export type SeedRowsArgs<Row extends object = Record<string, unknown>> = SeedRowsByRows<Row> | SeedRowsBySource<Row>;

/** Outputs of SeedRows. */
export interface SeedRowsOutputs extends OutputsOf<
  Omit<SeedRowsSettings, "key" | "additions" | "changes" | "references" | "parent">,
  "mode" | "onViewersChange" | "onConflict" | "maxRemovals" | "onDestroy"
> {
  /** The natural key: the label that identifies a row, or a list of labels. With another key, the same rows keep their IDs. */
  readonly key: Output<string[]>;
  /** The rows themselves, by label. Either this or source. */
  readonly rows: Output<Record<string, unknown>[] | undefined>;
  /** File with the rows, relative to the project: .csv, .json, .ndjson or .yaml. Either this or rows. */
  readonly source: Output<string | undefined>;
  /** Rows in addition to those of rows or source, by label. */
  readonly additions: Output<Record<string, unknown>[] | undefined>;
  /** Changed fields of rows in rows or source, each with the natural key of its row. */
  readonly changes: Output<Record<string, unknown>[] | undefined>;
  /** Linked-table labels whose values are keys of rows in another table: label → {table, key}. */
  readonly references: Output<Record<string, { table: string; key: string }> | undefined>;
  /** For a sub-table: the parent rows, and the column of the source that holds the parent's key. */
  readonly parent: Output<{ table: string; key: string; by: string } | undefined>;
  /** Number of owned rows. */
  readonly rowCount: Output<number>;
  /** Labels that the rows declare. */
  readonly labels: Output<string[]>;
  /** How often missing rows were created again, with other IDs. What refers to them follows. */
  readonly renewals: Output<number | undefined>;
  /** User IDs of the addresses that viewers and userID name, as the last run found them. */
  readonly viewerIDs: Output<Record<string, string> | undefined>;
  /** Requirements that failed when the table was last read, with the first rows that break them. */
  readonly unmet: Output<string[] | undefined>;
  /** Owned rows that were edited or removed on the platform, as seen by the last refresh, with the first keys and values. */
  readonly drift: Output<
    | {
        changed: number;
        missing: number;
        changedKeys: string[];
        missingKeys: string[];
        found?: Record<string, Record<string, unknown>>;
        unlinked?: number;
        unlinkedKeys?: string[];
      }
    | undefined
  >;
}

/** Arguments of RowFile. */
export interface RowFileArgs {
  /**
   * Data table ID (microAppID) of the row.
   * @example "countries"
   */
  table: Input<string>;
  /**
   * The row by its natural key: label → value. Either this or rowID.
   * @example {"Code":"PT"}
   */
  row?: Input<Record<string, Input<string | number | boolean>>>;
  /** The row by its ID. Either this or row. */
  rowID?: Input<string>;
  /**
   * Field that the file belongs to, by its ID, which is not its label. A seed of the emulator names it: Flag: {type: file, id: flag}.
   * @example "flag"
   */
  fieldID: Input<string>;
  /**
   * Where the file is: an address that the platform can read. Without it, the record is metadata alone.
   * @example "https://files.example.com/flags/pt.svg"
   */
  url?: Input<string>;
  /**
   * True if the platform downloads the file and keeps a copy; else the record leads to url itself.
   * @default true
   */
  store?: Input<boolean>;
  /** A digest of the file's content, of any kind: when it changes, the file is stored again from the same url. */
  digest?: Input<string>;
  /** Name of the file. If unset, the last part of url, and not changed afterwards. */
  filename?: Input<string>;
  /** Bytes. Not changed if unset. */
  size?: Input<number>;
  /** Media type. Not changed if unset. */
  type?: Input<string>;
  /** Take over what already exists on the platform, instead of refusing. */
  adopt?: Input<boolean>;
}

/** Outputs of RowFile. */
export interface RowFileOutputs extends OutputsOf<RowFileArgs, "store"> {
  /** ID of the row. */
  readonly parentRowID: Output<string>;
  /** ID of the record. */
  readonly childID: Output<string>;
  /** Where the platform keeps its copy, without the signature that opens it. */
  readonly storedAt: Output<string | undefined>;
  /** The platform's key of its copy. */
  readonly fileKey: Output<string | undefined>;
}

/** Arguments of GeneratedApp. */
export interface GeneratedAppArgs {
  /**
   * E-mail address of the user who becomes the owner.
   * @example "admin@example.com"
   */
  userEmail: Input<string>;
  /**
   * Text that describes the app. White space does not count.
   * @example "A portal where the crew finds countries."
   */
  appPrompt: Input<string>;
  /** Attachments of the prompt, as the platform takes them. */
  attachments?: Input<Input<unknown>[]>;
  /**
   * Effect of a change of the prompt, its attachments or the owner: a new generation, nothing, or an error. A generation costs money and can't be deleted.
   * @default "error"
   */
  onPromptChange?: Input<"replace" | "ignore" | "error">;
  /**
   * Seconds to wait at most.
   * @default 1800
   */
  timeout?: Input<number>;
  /** Meaning of the platform's own status words, beyond the usual ones: word → pending, ready or failed. */
  statusWords?: Input<Record<string, Input<"pending" | "ready" | "failed">>>;
  /** "ready" (default): `ready` waits for the end of the generation. "none": it does not. */
  wait?: "ready" | "none";
}

/** Outputs of GeneratedApp. */
export interface GeneratedAppOutputs extends OutputsOf<
  Omit<GeneratedAppArgs, "timeout" | "statusWords" | "wait">,
  "onPromptChange"
> {
  /** ID of the app. */
  readonly appID: Output<string>;
  /** Link to the app in the workspace, as the platform answered it. */
  readonly editLink: Output<string>;
  /** Link to the finished app. */
  readonly appLink: Output<string>;
}

/** Arguments of AppReadiness. */
export interface AppReadinessArgs {
  /** The app whose generation is waited for. */
  appID: Input<string>;
  /**
   * Seconds to wait at most.
   * @default 1800
   */
  timeout?: Input<number>;
  /** Meaning of the platform's own status words, beyond the usual ones: word → pending, ready or failed. */
  statusWords?: Input<Record<string, Input<"pending" | "ready" | "failed">>>;
}

/** Outputs of AppReadiness. */
export interface AppReadinessOutputs extends OutputsOf<AppReadinessArgs, "timeout"> {
  /** The platform's own word for the state of the generation. */
  readonly status: Output<string>;
}

/** Arguments of Notification. */
export interface NotificationArgs {
  /** App that it is about; the account must be an administrator or author of it. */
  appID: Input<string>;
  /**
   * The recipient's e-mail address.
   * @example "ada@example.com"
   */
  email: Input<string>;
  /**
   * Text that the recipient sees; without it, only the badge changes. A change of it alone sends nothing: change triggers, too.
   * @example "The portal is there."
   */
  message?: Input<string>;
  /** Absolute number on the badge. A change of it alone sends nothing: change triggers, too. */
  badgeCount?: Input<number>;
  /** push: a push message alone. inApp: a record in the app alone. default: both. A change of it alone sends nothing: change triggers, too. */
  channel?: Input<"push" | "inApp" | "default">;
  /**
   * Anything by name, e.g. a version: whenever it changes, the notification is sent again.
   * @example {"version":1}
   */
  triggers?: Input<Record<string, Input<unknown>>>;
}

/** Outputs of Notification. */
export interface NotificationOutputs extends OutputsOf<NotificationArgs> {
  /** When it was sent last (ISO 8601); "imported" when that was not done here. */
  readonly sentAt: Output<string>;
  /** Records in the app that were made; unset when not known. */
  readonly notificationCount: Output<number | undefined>;
  /** Push messages that were prepared; unset when not known. */
  readonly pushCount: Output<number | undefined>;
}

/** Arguments of getUserID. */
export interface GetUserIDArgs {
  /**
   * The user's e-mail address.
   * @example "ada@example.com"
   */
  email: string;
}

/** Arguments of getUserIDOutput. */
export type GetUserIDOutputArgs = InputsOf<GetUserIDArgs>;

/** Result of getUserID. */
export interface GetUserIDResult {
  /** ID of the user. */
  userID: string;
}

/** Arguments of getOrganization. */
export interface GetOrganizationArgs {
  /** ID of the organization. */
  organizationID: string;
}

/** Arguments of getOrganizationOutput. */
export type GetOrganizationOutputArgs = InputsOf<GetOrganizationArgs>;

/** Result of getOrganization. */
export interface GetOrganizationResult {
  /** ID of the organization. */
  organizationID: string;
  /** Name, unique on the platform. */
  name: string;
  /** Purpose, when the platform has a text. */
  description?: string;
}

/** Arguments of getTeam. */
export interface GetTeamArgs {
  /** ID of the team. */
  teamID: string;
}

/** Arguments of getTeamOutput. */
export type GetTeamOutputArgs = InputsOf<GetTeamArgs>;

/** Result of getTeam. */
export interface GetTeamResult {
  /** ID of the team. */
  teamID: string;
  /** Organization that it belongs to, when the platform answers it. */
  organizationID?: string;
  /** Name of the team. */
  name: string;
  /** Purpose, when the platform has a text. */
  description?: string;
}

/** Arguments of getTeamMembers. */
export interface GetTeamMembersArgs {
  /** ID of the team. */
  teamID: string;
}

/** Arguments of getTeamMembersOutput. */
export type GetTeamMembersOutputArgs = InputsOf<GetTeamMembersArgs>;

/** Result of getTeamMembers. */
export interface GetTeamMembersResult {
  /** ID of the team. */
  teamID: string;
  /** The members. */
  members: { userID: string; email?: string; role?: string }[];
}

/** Arguments of getRows. */
export interface GetRowsArgs {
  /**
   * Data table ID (microAppID).
   * @example "countries"
   */
  table: string;
  /**
   * Values that the rows have, by label. Of a linked-table label, the ID of the row that it leads to.
   * @example {"Continent":"Europe"}
   */
  where?: Record<string, unknown>;
  /** Filters on stored row keys that the platform applies itself, such as {sortVal: {$gte: 10}}. */
  filters?: Record<string, unknown>[];
  /** Limits the rows of a sub-table to those of this parent row. */
  parentRowID?: string;
  /**
   * The order of the rows; that of their IDs when unset.
   * @example [{"label":"Code","order":"ascending"}]
   */
  sort?: { label: string; order?: "ascending" | "descending" }[];
  /**
   * Most rows to get. When unset, more than 10000 rows are an error.
   * @example 100
   */
  limit?: number;
}

/** Arguments of getRowsOutput. */
export type GetRowsOutputArgs = InputsOf<GetRowsArgs>;

/** Result of getRows. */
export interface GetRowsResult {
  /** The rows. */
  rows: { rowID: string; values: Record<string, unknown>; parentRowID?: string }[];
}

/** Arguments of getRow. */
export interface GetRowArgs {
  /** ID of the row. Either this, or table and key. */
  rowID?: string;
  /**
   * Data table ID (microAppID). With key.
   * @example "countries"
   */
  table?: string;
  /**
   * Values by label that one row of the table has, and no other.
   * @example {"Code":"PT"}
   */
  key?: Record<string, unknown>;
}

/** Arguments of getRowOutput. */
export type GetRowOutputArgs = InputsOf<GetRowArgs>;

/** Result of getRow. */
export interface GetRowResult {
  /** ID of the row. */
  rowID: string;
  /** The row's values by label. */
  values: Record<string, unknown>;
  /** The parent row, in a sub-table. */
  parentRowID?: string;
}

/** Arguments of getAppStatus. */
export interface GetAppStatusArgs {
  /** ID of the app. */
  appID: string;
  /** Meaning of the platform's own status words, beyond the usual ones: word → pending, ready or failed. */
  statusWords?: Record<string, "pending" | "ready" | "failed">;
}

/** Arguments of getAppStatusOutput. */
export type GetAppStatusOutputArgs = InputsOf<GetAppStatusArgs>;

/** Result of getAppStatus. */
export interface GetAppStatusResult {
  /** ID of the app. */
  appID: string;
  /** The platform's own word for the state of the generation. */
  status: string;
  /** Meaning of the word. */
  meaning: "pending" | "ready" | "failed";
  /** Message of the platform, if any. */
  message?: string;
}

/** Arguments of a Provider: the keys of the configuration, without `microapps:`. */
export interface ProviderArgs {
  /** Address of the platform, https://…, or emulator:<file>?seed=<platform.yaml>. */
  endpoint?: Input<string>;
  /** E-mail address to log in with. */
  email?: Input<string>;
  /** Password to log in with. */
  password?: Input<string>;
  /** Token to use instead of a password, with userID. */
  token?: Input<string>;
  /** User ID that belongs to the token. */
  userID?: Input<string>;
  /** Key that app generation needs beside the token. */
  apiKey?: Input<string>;
  /** Refuse every call that changes something. */
  readOnly?: Input<boolean | "true" | "false">;
  /** Allow http:// to another machine, although anybody on the way can read passwords and answers. */
  insecure?: Input<boolean | "true" | "false">;
  /** Whether each preview of the plugin looks for changes made by hand (default), or only a refresh. Dynamic resources only look in a refresh. */
  driftOnPreview?: Input<boolean | "true" | "false">;
  /** Confirms in one run that the platform lost what the stack created: up --refresh creates again what is gone, however many rows that are. */
  lostData?: Input<boolean | "true" | "false">;
  /** Seconds for which a platform may not find what a run has just created (eventual consistency), and is asked again (10). 0 takes the first answer. */
  consistencySeconds?: Input<number | string>;
  /** Organization that the stack is for: things that a state has in another one are not touched. */
  organizationID?: Input<string>;
  /** Former address of the platform. A state remembers its platform and refuses another one, unless this names it. If the former one no longer answers, set this and endpoint as variables, for one up. */
  movedFrom?: Input<string>;
  /** Address of the server in the links to generated apps: a link elsewhere is refused. */
  appServer?: Input<string>;
  /** File that describes how the platform differs, platform-profile.yaml, relative to the program's folder. Settings of the configuration take precedence. */
  profile?: Input<string>;
  /** Names that the platform spells differently: platformFormat, storecopy, uploadFileToStore. */
  wireNames?: Input<string | Partial<Record<"platformFormat" | "storecopy" | "uploadFileToStore", string>>>;
}
