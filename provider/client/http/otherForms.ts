import { endpoints, type EndpointName } from "../../contract/endpoints.ts";
import { usualHabits, type HabitName, type Habits } from "../../habits/habits.ts";
import { undocumented } from "./answers.ts";
import { hintOfPath } from "./requests.ts";
import type { Failed } from "./retries.ts";

const unknownForm =
  "No habit of a profile has this form, so no setting makes it understood: 'microapps verify' names each answer that differs, and the keys above are what a report about it needs.";

/** A habit by which a platform may refuse a request in its usual form, and the words of such a refusal. */
type Form = readonly [habit: HabitName, words: RegExp];

const teams: Form = ["teamParameter", /\bteamIDs?\b/];
const members: Form = ["memberID", /\b(?:teamMemberID|userID)\b/];
const chosen: Form = ["chosenIDs", /\bIDs?\b|_id\b/];

const forms: Partial<Record<EndpointName, readonly Form[]>> = {
  userid: [["userLookupBy", /\bemail is|not enabled|disabled|switched off/i]],
  microappdata: [
    ["viewFilters", /optViewFilters/],
    ["rangeFilters", /\$[gl]te?\b|operator/],
  ],
  microappchildList: [["childListBy", /\b(?:appID|fieldID)\b/]],
  insertorganization: [chosen],
  insertteam: [chosen],
  insertteammembers: [teams],
  teammembers: [teams],
  readteammember: [members],
  updateteammember: [members, ["roleChange", /\broles?\b/]],
  deleteteammember: [members],
  enforceteammembership: [["enforceBy", /\b(?:email|userID)\b/]],
  createappwithprompt: [["attachments", /attachments/]],
};

/** Forms of requests that no habit has, and the words of their refusals. */
const unsettled: readonly { endpoints: readonly EndpointName[]; words: RegExp; form: string }[] = [
  {
    endpoints: ["insertorganization", "updateorganization", "insertteam", "updateteam"],
    words: /\bname\b.*\b(?:required|missing)|\bno name\b|(?:organization|team)Info/i,
    form: "the fields of organizations and teams in another place than organizationInfo and teamInfo",
  },
  {
    endpoints: Object.keys(endpoints) as EndpointName[], // those of the table
    words: /\b\w*IDs?\b.*\b(?:a number|numbers|numeric|integers?)\b/,
    form: "numbers as IDs and no texts",
  },
];

const codes: ReadonlySet<Failed["code"]> = new Set(["invalidRequest", "rejected", "forbidden", "notImplemented"]);

/** Advice after a refusal that may be about the form of the request, which other platforms have otherwise. */
export function hintOfForm(
  name: EndpointName,
  { code, message, ...failed }: Failed,
  habits: Habits,
): string | undefined {
  if (code === "badAnswer" && message.startsWith(undocumented)) return unknownForm;
  const path = hintOfPath(name, { code, message, ...failed });
  if (path !== undefined || !codes.has(code)) return path;
  if (name === "userid" && habits.userLookupBy === "none") {
    return "This platform finds no user by an address (userLookupBy): declare userID in its place.";
  }
  const [habit] =
    forms[name]?.find(([habit, words]) => habits[habit] === usualHabits[habit] && words.test(message)) ?? [];
  if (habit === undefined) {
    const other = unsettled.find(({ endpoints, words }) => endpoints.includes(name) && words.test(message));
    return (
      other &&
      `If this platform takes ${other.form}: no setting of this package sends that, and 'microapps verify' shows what else differs.`
    );
  }
  return (
    `If what it names is right, this platform is used in another way: 'microapps verify --write-profile <file>' finds it, and ` +
    `microapps:profile names that file (habits.${habit}).`
  );
}
