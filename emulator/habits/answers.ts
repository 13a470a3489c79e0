import type { EndpointName } from "../../provider/contract/endpoints.ts";
import { isObject, type Json } from "../../provider/contract/wire.ts";
import { usualSwitches, type Switches } from "../../provider/habits/deviations.ts";

// The forms that a platform's answers have, by its habits. They are made of what the contract's `wrap` returns.

type Form = (answer: Json, habits: Switches) => unknown;

/** An answer as a platform of these habits sends it. */
export function answerIn(habits: Switches, name: EndpointName, answer: unknown): unknown {
  if (habits === usualSwitches) return answer;
  if (name === "createappwithprompt") return linkIn(answer, habits);
  if (!isObject(answer)) return answer;
  const formed = forms[name]?.(answer, habits) ?? answer;
  const worded = isObject(formed) ? withWord(formed, habits) : formed;
  return habits.idForm === "number" ? numbered("", worded) : worded;
}

/** An answer whose IDs of digits are numbers. */
function numbered(key: string, value: unknown): unknown {
  if (Array.isArray(value)) return (value as unknown[]).map((item) => numbered(key, item));
  if (isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, numbered(name, inner)]));
  }
  const isID = /(?:^_id|^id|ID|IDs|Id|iewers|^result|^teamMembers)$/.test(key);
  return isID && typeof value === "string" && /^\d{13,16}$/.test(value) ? Number(value) : value;
}

/** A refusal as a platform of these habits writes it. Those of sendnotification are documented. */
export function refusalIn({ failureForm }: Switches, name: EndpointName, body: unknown): unknown {
  if (failureForm === "status" || name === "sendnotification" || !isObject(body)) return body;
  const { status: _, ...failure } = isObject(body["body"]) ? body["body"] : body;
  const { message, ...more } = failure;
  return { error: message, ...more };
}

/** The HTTP status of a refusal. An overloaded or failing server sends its own status whatever the habit. */
export const statusIn = ({ failureStatus }: Switches, status: number): number =>
  failureStatus === "ok" && status < 500 ? 200 : status;

const forms: Partial<Record<EndpointName, Form>> = {
  login: ({ status, authToken, userId, data }, { loginEnvelope }) =>
    loginEnvelope === "top" ? { status, authToken, userId, data } : { status, data },
  userid: (answer, habits) => {
    const found = withWord(inside(answer), habits);
    return habits.userLookupEnvelope === "body" ? { body: found } : found;
  },
  microappdata: (answer, habits) => payload(renamedRows(withoutRows(answer, habits), habits), habits),
  microappdataRow: (answer, habits) => {
    const isNone = Object.keys(inside(answer)).length === 0;
    return payload(isNone && habits.unknownRow === "null" ? { ...answer, body: { currentRow: null } } : answer, habits);
  },
  insertmicroapprow: written,
  insertmicroapprows: (answer, habits) => {
    if (habits.insertedCount === "number") return written(answer, habits);
    const { inserted: _, ...rest } = answer;
    return written({ ...rest, body: {} }, habits);
  },
  updatemicroapprow: written,
  removemicroapprow: written,
  microappchildList: payload,
  microappchildCreate: written,
  microappchildRead: payload,
  microappchildUpdate: written,
  microappchildDelete: written,
  microappchildStorecopy: written,
  microappchildUploadFileToStore: written,
  insertorganization: made,
  readorganization: thing,
  insertteam: made,
  readteam: thing,
  teammembers: ({ status, body }, { memberPlace, memberAddress }) => {
    const list = inside({ body })["teamMembers"] as unknown[];
    const members = memberAddress === "yes" ? list : list.map(withoutAddress);
    return memberPlace === "teamMembers"
      ? { status, body: { teamMembers: members } }
      : { status, [memberPlace]: members };
  },
  readteammember: (answer, habits) =>
    payload(habits.memberAddress === "yes" ? answer : { ...answer, body: withoutAddress(answer["body"]) }, habits),
  createappwithpromptStatus: ({ body }, { appStatus }) =>
    appStatus === "body" ? { body } : appStatus === "result" ? { result: body } : inside({ body })["status"],
};

const inside = ({ body }: Json): Json => (isObject(body) ? body : {});

/** Where a read's payload stands. */
function payload({ status, body }: Json, { readEnvelope }: Switches): Json {
  if (readEnvelope === "top") return Array.isArray(body) ? { status, data: body } : { ...inside({ body }), status };
  return readEnvelope === "result" ? { status, result: body } : { status, body };
}

/** An organization or a team, with or without its time. */
function thing(answer: Json, habits: Switches): Json {
  if (habits.createdAt === "yes") return payload(answer, habits);
  const { createdAt: _, ...rest } = inside(answer);
  return payload({ ...answer, body: rest }, habits);
}

/** Where a write's values stand. */
function written(plain: Json, { writeEnvelope, newIDName }: Switches): Json {
  const answer =
    newIDName === "own" ? plain : { ...renamedID(plain, newIDName), body: renamedID(inside(plain), newIDName) };
  const { body, ...top } = answer;
  if (writeEnvelope === "both") return answer;
  return writeEnvelope === "top" ? top : { status: answer["status"], body };
}

function made({ result, ...rest }: Json, habits: Switches): Json {
  const { creationResult } = habits;
  return { ...written(rest, habits), result: creationResult === "id" && isObject(result) ? result["_id"] : result };
}

function withoutRows(answer: Json, { noMatch }: Switches): Json {
  const { microAppRows } = inside(answer);
  if (noMatch === "empty" || !Array.isArray(microAppRows) || microAppRows.length > 0) return answer;
  return { ...answer, body: noMatch === "null" ? { microAppRows: null } : {} };
}

const renamedID = ({ rowID, childID, ...rest }: Json, name: string): Json => {
  const id = rowID ?? childID;
  return id === undefined ? rest : { ...rest, [name]: id };
};

/** The list of rows by its name, or in place of the body. */
function renamedRows(answer: Json, { rowsName }: Switches): Json {
  const { microAppRows } = inside(answer);
  if (rowsName === "microAppRows" || microAppRows === undefined) return answer;
  return { ...answer, body: rowsName === "none" ? microAppRows : { [rowsName]: microAppRows } };
}

function withoutAddress(member: unknown): unknown {
  if (!isObject(member)) return member;
  const { email: _, ...rest } = member;
  return rest;
}

function linkIn(link: unknown, { appLink }: Switches): unknown {
  return appLink === "text" ? link : { [appLink]: link };
}

function withWord(answer: Json, { successWord }: Switches): Json {
  const { status, ...rest } = answer;
  if (successWord === "success" || status !== "success") return answer;
  return successWord === "absent" ? rest : { ...rest, status: successWord };
}
