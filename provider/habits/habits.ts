// The ways in which platforms of this interface may differ. The specification leaves them open, or a deployment was
// configured otherwise. The emulator can have each, `verify` finds them, and a profile writes them down.

/** One way in which platforms differ. */
export interface Habit {
  /** Possible values; the emulator follows the first unless a profile names another. */
  readonly values: readonly [string, ...string[]];
  /** Subject of the values, as the beginning of a sentence. */
  readonly about: string;
}

const habit = <const Values extends readonly [string, ...string[]]>(about: string, ...values: Values) => ({
  about,
  values,
});

/** Habits that are one of several words, by name. */
export const habits = {
  // Envelopes
  writeEnvelope: habit("Where a write's new ID stands", "both", "top", "body"),
  readEnvelope: habit("Where the payload of a read stands", "body", "top", "result"),
  creationResult: habit("What `result` of a new organization or team is", "object", "id", "absent"),
  failureForm: habit("How a refusal is written", "status", "error", "body", "number", "object", "flag"),
  failureStatus: habit("The HTTP status of a refusal", "own", "ok"),
  idForm: habit("What the IDs are that the platform gives", "text", "number"),
  newIDName: habit("What the ID of a new row or child record is called", "own", "_id", "id"),
  successWord: habit("The status word of a success", "success", "ok", "absent"),
  // Sessions
  loginEnvelope: habit("Where token and user ID of a login stand", "top", "data"),
  logoutBy: habit("What names the session that a logout ends", "either", "headers", "body"),
  userLookupBy: habit("How userid is asked", "any", "query", "post", "none"),
  userLookupEnvelope: habit("Where userid answers", "body", "top"),
  keyAlone: habit("Whether createappwithprompt takes the key without a token", "no", "yes"),
  keyNeeded: habit("Whether createappwithprompt needs the key", "yes", "no"),
  // Rows that are read
  rowsName: habit("What the list of rows is called", "microAppRows", "rows", "data", "none"),
  unknownTable: habit("What reading an unknown table answers", "notFound", "empty"),
  noMatch: habit("What a read answers where no row matches", "empty", "null", "absent"),
  unknownRow: habit("What reading an unknown row answers", "empty", "null", "notFound"),
  skip: habit("Whether `skip` counts", "honoured", "ignored"),
  skipForm: habit("Which form of `skip` and `limit` counts", "either", "number"),
  optLimit: habit("Whether `optLimit` counts", "honoured", "ignored"),
  order: habit("Whether `order` of a search filter counts", "honoured", "ignored"),
  rowOrder: habit("In which order rows come that nobody sorts", "kept", "changing"),
  viewSort: habit("Whether `optViewSort` counts", "honoured", "ignored"),
  searchFilters: habit("What `optSearchFilters` do", "match", "ignored", "refused"),
  viewFilters: habit("What `optViewFilters` do", "match", "ignored", "refused"),
  rangeFilters: habit("What `$gt` and its like do in `optViewFilters`", "compare", "ignored", "refused"),
  parentFilter: habit("What `embeddingRowID` in `optViewFilters` does", "match", "ignored"),
  parentShown: habit("Whether a row that is read names its parent", "yes", "no"),
  subRows: habit("How rows of a sub-table are found", "all", "byParent"),
  rawRows: habit("What raw rows are asked for by", "platformFormat", "other"),
  linkForm: habit("What a linked value is read as", "object", "id"),
  numberForm: habit("What a number is read as", "number", "text"),
  dateForm: habit("What a date is read as", "iso", "milliseconds"),
  emptyViewers: habit("How a row without viewers says so", "list", "absent"),
  submittedForm: habit("What `submitted` is", "milliseconds", "iso"),
  // Rows that are written
  unknownLabels: habit("What is done with a label that the table does not have", "dropped", "refused", "kept"),
  labelCase: habit("Whether the case of labels counts", "counts", "ignored"),
  wrongValues: habit("What is done with a value that does not fit its field", "refused", "kept", "dropped"),
  linkNull: habit("What `null` does to a linked value", "clears", "ignored"),
  emptyText: habit("What an empty text is read back as", "text", "absent", "null"),
  batchInserts: habit("Whether rows can be inserted in batches", "yes", "no"),
  insertedCount: habit("Whether a batch answers how many rows it inserted", "number", "absent"),
  partialBatches: habit("What a refused row does to its batch", "whole", "partial"),
  ownParents: habit("Whether a row of a batch may name a parent of its own", "honoured", "ignored"),
  updateUnknownRow: habit("What changing an unknown row answers", "notFound", "success"),
  removeUnknownRow: habit("What deleting an unknown row answers", "notFound", "success"),
  // Children and files
  childRead: habit("Whether one child record can be read", "yes", "no"),
  childListBy: habit("Where the list of child records takes its parameters", "either", "query", "body"),
  storecopyPath: habit("The name of storecopy on the wire", "either", "storecopy", "s3copy"),
  uploadPath: habit("The name of uploadFileToStore on the wire", "either", "uploadFileToStore", "uploadFileToS3"),
  // Organizations, teams and members
  chosenIDs: habit("What a chosen `_id` of a new organization or team does", "honoured", "ignored", "refused"),
  organizationNames: habit("Whether names of organizations are unique", "unique", "free"),
  teamNames: habit("Whether names of teams are unique in their organization", "free", "unique"),
  nullDescription: habit("What `null` does to a description", "clears", "ignored"),
  unknownDelete: habit("What deleting an unknown organization, team or member answers", "notFound", "success"),
  unknownThing: habit("What reading an unknown organization or team answers", "notFound", "empty"),
  createdAt: habit("Whether an organization or team tells when it was made", "yes", "no"),
  cascade: habit("What deleting an organization with teams does", "refused", "deletes"),
  allMembers: habit("Whether an organization has a team of all its members", "yes", "no"),
  memberForm: habit("What the list of a team's members holds", "objects", "ids", "userIDs", "users"),
  memberPlace: habit("Where the list of a team's members stands", "teamMembers", "body", "result"),
  memberAddress: habit("Whether a listed member has an e-mail address", "yes", "no"),
  memberAgain: habit("What adding a member does who is there already", "nothing", "refused"),
  creatorJoins: habit("Whether who makes a team becomes its member", "yes", "no"),
  memberID: habit("What a member is called by", "either", "teamMemberID", "userID"),
  teamParameter: habit("How invitations and lists name their teams", "either", "teamIDs", "teamID"),
  invitations: habit("What is done with an unknown e-mail address", "invited", "refused", "dropped"),
  enforceBy: habit("What enforceteammembership names its user by", "either", "email", "userID"),
  roleChange: habit("Whether a member's role can be changed", "yes", "ignored", "refused"),
  // Notifications and apps
  defaultChannel: habit("What a notification without a channel does", "both", "inApp"),
  appLink: habit("What carries the link of a new app", "text", "body", "link", "url", "id"),
  appStatus: habit("Where the status of a generation stands", "body", "result", "text"),
  attachments: habit("Whether `attachments` may be left out", "optional", "required"),
} as const satisfies Record<string, Habit>;

export type HabitName = keyof typeof habits;
export type HabitValue<Name extends HabitName = HabitName> = (typeof habits)[Name]["values"][number];
/** A value for each habit. */
export type Habits = { readonly [Name in HabitName]: HabitValue<Name> };

/** The habits of a platform without a profile. */
export const usualHabits = Object.fromEntries(
  Object.entries(habits).map(([name, { values }]) => [name, values[0]]),
) as unknown as Habits; // keys and values are those of the table
