import { habits, type Habit } from "../../platform/profile/profile.ts";

// What the emulator can do otherwise than it is assumed of platforms, for tests alone: no profile has it and no code of the
// product asks for it. On each such platform the product works without a setting, or refuses before it does harm.

const deviation = <const Values extends readonly [string, ...string[]]>(about: string, ...values: Values) => ({
  about,
  values,
});

export const deviations = {
  failureStatus: deviation("The HTTP status of a refusal", "own", "ok"),
  unknownTable: deviation("What reading an unknown table answers", "notFound", "empty"),
  unknownRow: deviation("What reading an unknown row answers", "empty", "notFound"),
  rowOrder: deviation("In which order rows come that nobody sorts", "kept", "changing"),
  viewFilters: deviation("What `optViewFilters` do", "match", "ignored", "refused"),
  parentShown: deviation("Whether a row that is read names its parent", "yes", "no"),
  subRows: deviation("How rows of a sub-table are found", "all", "byParent"),
  wrongValues: deviation("What is done with a value that does not fit its field", "refused", "kept", "dropped"),
  linkNull: deviation("What `null` does to a linked value", "clears", "ignored"),
  emptyText: deviation("What an empty text is read back as", "text", "absent", "null"),
  insertedCount: deviation("Whether a batch answers how many rows it inserted", "number", "absent"),
  partialBatches: deviation("What a refused row does to its batch", "whole", "partial"),
  viewers: deviation("What is done with the viewers that a row is written with", "kept", "dropped"),
  updateUnknownRow: deviation("What changing an unknown row answers", "notFound", "success"),
  removeUnknownRow: deviation("What deleting an unknown row answers", "notFound", "success"),
  childRead: deviation("Whether one child record can be read", "yes", "no"),
  chosenIDs: deviation("What a chosen `_id` of a new organization or team does", "honoured", "ignored", "refused"),
  teamNames: deviation("Whether names of teams are unique in their organization", "free", "unique"),
  nullDescription: deviation("What `null` does to a description", "clears", "ignored"),
  unknownDelete: deviation("What deleting an unknown organization, team or member answers", "notFound", "success"),
  unknownThing: deviation("What reading an unknown organization or team answers", "notFound", "empty"),
  createdAt: deviation("Whether an organization or team tells when it was made", "yes", "no"),
  memberAddress: deviation("Whether a listed member has an e-mail address", "yes", "no"),
  memberAgain: deviation("What adding a member does who is there already", "nothing", "refused"),
  creatorJoins: deviation("Whether who makes a team becomes its member", "yes", "no"),
  invitations: deviation("What is done with an unknown e-mail address", "invited", "refused", "dropped"),
  roleChange: deviation(
    "Whether a member's role can be changed; `exclusive` takes it from a team's other administrators but the caller",
    "yes",
    "ignored",
    "refused",
    "exclusive",
  ),
  defaultChannel: deviation("What a notification without a channel does", "both", "inApp"),
  notificationValues: deviation("What is done with message, badge and channel of a notification", "kept", "dropped"),
} as const satisfies Record<string, Habit>;

/** All that the emulator can do otherwise: habits and deviations. */
export const switches = { ...habits, ...deviations } as const;
export type SwitchName = keyof typeof switches;
export type Switches = { readonly [Name in SwitchName]: (typeof switches)[Name]["values"][number] };

/** What the emulator does unless it is told otherwise. */
export const usualSwitches = Object.fromEntries(
  Object.entries(switches).map(([name, { values }]) => [name, values[0]]),
) as unknown as Switches; // keys and values are those of the table
