import { type Received, type EndpointName, withOurNames, type WireNames } from "../../platform/contract/endpoints.ts";
import { isObject, type Json, at } from "../../platform/contract/wire.ts";
import { type Switches, usualSwitches } from "../data/deviations.ts";
import { forbidden, invalid } from "../data/platformError.ts";

// Changes a request as a platform of these habits does: drops what it ignores, refuses what it refuses.

type RequestForm = (received: Received, habits: Switches) => Received;

/** A request as a platform of these habits takes it. */
export function receiveRequest(
  habits: Switches,
  name: EndpointName,
  received: Received,
  wireNames: WireNames,
): Received {
  const formed = requestForms[name]?.(received, habits) ?? received;
  return { ...formed, body: withOurNames(formed.body, wireNames) };
}

const requestForms: Partial<Record<EndpointName, RequestForm>> = {
  userid: (received, { userLookupBy }) => {
    if (userLookupBy === "none") throw forbidden("The endpoint is not enabled");
    return sentBy(received, userLookupBy);
  },
  microappdata: (received, habits) => {
    const { body } = received;
    return isObject(body) ? { ...received, body: readIn(habits, body) } : received;
  },
  microappchildList: (received, { childListBy }) => sentBy(received, childListBy),
  sendnotification: (received, { notificationValues }) =>
    notificationValues === "kept" ? received : without(received, "message", "badgeCount", "channel"),
  insertteammembers: (received, habits) => teamsBy(received, habits.teamParameter),
  teammembers: (received, habits) => teamsBy(received, habits.teamParameter),
  readteammember: memberBy,
  updateteammember: memberBy,
  deleteteammember: memberBy,
  enforceteammembership: (received, { enforceBy }) => {
    if (enforceBy === "either") return received;
    return without(received, enforceBy === "email" ? "userID" : "email");
  },
};

/** Takes parameters from the query or from the body alone. */
function sentBy(received: Received, by: "any" | "either" | "query" | "post" | "body"): Received {
  if (by === "query") return { ...received, body: undefined };
  return by === "any" || by === "either" ? received : { ...received, query: {} };
}

const teamsBy = (received: Received, by: Switches["teamParameter"]): Received =>
  by === "either" ? received : without(received, by === "teamIDs" ? "teamID" : "teamIDs");

function memberBy(received: Received, { memberID }: Switches): Received {
  if (memberID === "either") return received;
  return memberID === "userID" ? without(received, "teamMemberID") : without(received, "teamID", "userID");
}

function without(received: Received, ...keys: string[]): Received {
  const left = <Value>(all: Readonly<Record<string, Value>>) =>
    Object.fromEntries(Object.entries(all).filter(([key]) => !keys.includes(key)));
  return {
    ...received,
    query: left(received.query),
    body: isObject(received.body) ? left(received.body) : received.body,
  };
}

/** The rest of a read of many rows after the platform has dropped what it ignores. */
function readIn({ viewFilters, skipForm, subRows }: Switches, body: Json): Json {
  const read = { ...body };
  if (viewFilters === "refused" && (read["optViewFilters"] ?? null) !== null)
    throw invalid("optViewFilters: this platform takes none");
  if (viewFilters === "ignored") read["optViewFilters"] = undefined;
  const { searchFilter } = read;
  if (Array.isArray(searchFilter))
    read["searchFilter"] = searchFilter.map((filter: unknown) =>
      isObject(filter) ? pagedIn(skipForm, filter) : filter,
    );
  if (subRows === "byParent") read["optViewFilters"] = topRows(read["optViewFilters"]);
  return read;
}

/** Filters that name a parent; others find the rows alone that have none. */
function topRows(filters: unknown): unknown {
  const list: unknown = filters ?? [];
  if (!Array.isArray(list)) return filters;
  const isByParent = list.some((filter: unknown) => isObject(filter) && typeof filter["embeddingRowID"] === "string");
  return isByParent ? filters : [...(list as unknown[]), { embeddingRowID: null }];
}

/** A page without the skip and the limit that have another form than the platform reads. */
const pagedIn = (skipForm: Switches["skipForm"], filter: Json): Json =>
  Object.fromEntries(
    Object.entries(filter).filter(([key, value]) => {
      if (skipForm === "either" || (key !== "skip" && key !== "limit")) return true;
      return typeof value === (skipForm === "number" ? "number" : "string");
    }),
  );

// The forms that a platform's answers have, by its habits. They are made of what the contract's `wrap` returns.

type AnswerForm = (answer: Json, habits: Switches) => Json;

/** An answer as a platform of these habits sends it. */
export function answerIn(habits: Switches, name: EndpointName, answer: unknown): unknown {
  const { appLink } = habits;
  if (habits === usualSwitches) return answer;
  if (name === "createappwithprompt") return appLink === "text" ? answer : { [appLink]: answer };
  if (!isObject(answer)) return answer;
  return answerForms[name]?.(answer, habits) ?? answer;
}

/** A refusal as a platform of these habits writes it. Those of sendnotification are documented. */
export function refusalIn({ failureForm }: Switches, name: EndpointName, body: unknown): unknown {
  if (failureForm === "status" || name === "sendnotification" || !isObject(body)) return body;
  const { status: _, message, ...more } = isObject(body["body"]) ? body["body"] : body;
  return { error: message, ...more };
}

/** The HTTP status of a refusal. An overloaded or failing server sends its own status whatever the habit. */
export const statusIn = ({ failureStatus }: Switches, status: number): number =>
  failureStatus === "ok" && status < 500 ? 200 : status;

const answerForms: Partial<Record<EndpointName, AnswerForm>> = {
  login: ({ data, ...top }, { loginEnvelope }) => (loginEnvelope === "top" ? { ...top, data } : { data }),
  insertmicroapprow: written,
  insertmicroapprows: (answer, habits) => {
    const { inserted: _, ...rest } = answer;
    return written(habits.insertedCount === "number" ? answer : { ...rest, body: {} }, habits);
  },
  microappchildCreate: written,
  microappchildStorecopy: written,
  microappchildUploadFileToStore: written,
  insertorganization: made,
  insertteam: made,
  readorganization: thing,
  readteam: thing,
  teammembers: ({ status, body }, { memberPlace, memberAddress }) => {
    const list = at(body, "teamMembers") as unknown[]; // the contract's wrap
    const members = memberAddress === "yes" ? list : list.map(withoutAddress);
    return memberPlace === "teamMembers"
      ? { status, body: { teamMembers: members } }
      : { status, [memberPlace]: members };
  },
  readteammember: ({ status, body }, { memberAddress }) => ({
    status,
    body: memberAddress === "yes" ? body : withoutAddress(body),
  }),
};

/** Where a write's values stand. */
function written({ body, ...top }: Json, { writeEnvelope }: Switches): Json {
  if (writeEnvelope === "both") return { ...top, body };
  return writeEnvelope === "top" ? top : { status: top["status"], body };
}

function made({ result, ...rest }: Json, habits: Switches): Json {
  const id = habits.creationResult === "id" ? at(result, "_id") : result;
  return { ...written(rest, habits), result: id };
}

/** An organization or a team, with or without its time. */
function thing({ status, body }: Json, { createdAt }: Switches): Json {
  const { createdAt: time, ...rest } = isObject(body) ? body : {};
  return { status, body: createdAt === "yes" && time !== undefined ? { ...rest, createdAt: time } : rest };
}

function withoutAddress(member: unknown): unknown {
  if (!isObject(member)) return member;
  const { email: _, ...rest } = member;
  return rest;
}
