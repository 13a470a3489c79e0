import type { EndpointName } from "../../platform/contract/endpoints.ts";
import { at, isObject, type Json } from "../../platform/contract/wire.ts";
import { usualSwitches, type Switches } from "../data/deviations.ts";

// The forms that a platform's answers have, by its habits. They are made of what the contract's `wrap` returns.

type Form = (answer: Json, habits: Switches) => Json;

/** An answer as a platform of these habits sends it. */
export function answerIn(habits: Switches, name: EndpointName, answer: unknown): unknown {
  const { appLink } = habits;
  if (habits === usualSwitches) return answer;
  if (name === "createappwithprompt") return appLink === "text" ? answer : { [appLink]: answer };
  if (!isObject(answer)) return answer;
  return forms[name]?.(answer, habits) ?? answer;
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

const forms: Partial<Record<EndpointName, Form>> = {
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
