import { z } from "zod";
import type { Endpoint } from "../../contract/endpoint.ts";
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

const numbersAlone = "numbers as IDs and no texts";

/** Forms of requests that no habit has, and the words of their refusals. */
const unsettled: readonly { endpoints: readonly EndpointName[]; words: RegExp; form: string }[] = [
  {
    endpoints: ["insertorganization", "updateorganization", "insertteam", "updateteam"],
    words:
      /\bname\b.*\b(?:required|missing)|\bno name\b|\b(?:unknown|unexpected|not allowed)\b.*Info\b|Info\b.*\b(?:unknown|unexpected|not allowed)\b/i,
    form: "the fields of organizations and teams in another place than organizationInfo and teamInfo",
  },
  {
    endpoints: Object.keys(endpoints) as EndpointName[], // those of the table
    words: /\b\w*IDs?\b.*\b(?:a number|numbers|numeric|integers?)\b/,
    form: numbersAlone,
  },
];

const otherNames = "parameters by other names or in other places than the documented ones";

/** The name that a refusal asks for: the last part of a path. */
const asked = [
  /(?:^|[^\w.])(?:\w+\.)*(\w+)['"`]?,? (?:(?:is|are|was|were) )?(?:required|missing|mandatory|not (?:given|set|provided))\b/i,
  /\b(?:missing|required)(?: required)?(?: (?:parameter|field|property|argument|key))?s?:? ['"`]?(?:\w+\.)*(\w+)/i,
];

/** Names that requests of rows have of their own: any other that is missing may be a field of the table. */
const ofRows = /IDs?$|^(?:row)?data$|^(?:rows|items)$/i;
const takesRows: readonly EndpointName[] = ["insertmicroapprow", "insertmicroapprows", "updatemicroapprow"];

/** True where a refusal asks for what no declaration can add: everything that the interface requires was sent. */
function asksForOtherNames(name: EndpointName, message: string): boolean {
  const word = asked.map((words) => words.exec(message)?.[1]).find((each) => each !== undefined);
  if (word === undefined || (takesRows.includes(name) && !ofRows.test(word))) return false;
  const { request }: Endpoint = endpoints[name];
  return !optionalIn(request).includes(word);
}

/** The parameters that a request may leave out. */
function optionalIn(schema: unknown): string[] {
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries(schema.shape).flatMap(([key, inner]) =>
    inner instanceof z.ZodOptional ? [key, ...optionalIn(inner.unwrap())] : optionalIn(inner),
  );
}

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
  const other = unsettled.find(({ endpoints, words }) => endpoints.includes(name) && words.test(message));
  if (habit === undefined || other?.form === numbersAlone) {
    const form = other?.form ?? (asksForOtherNames(name, message) ? otherNames : undefined);
    return (
      form &&
      `If this platform takes ${form}: no setting of this package sends that, and 'microapps verify' shows what else differs.`
    );
  }
  return (
    `If what it names is right, this platform is used in another way: 'microapps verify --write-profile <file>' finds it, and ` +
    `microapps:profile names that file (habits.${habit}). Then run up: refresh and destroy go by what the last up had.`
  );
}
