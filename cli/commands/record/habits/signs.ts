import type { Fact, StepOutcome } from "../../../../provider/conformance/fact.ts";
import { findWrongHabit } from "../../../../provider/conformance/forms.ts";
import { isOperator } from "../../../../provider/conformance/matchers.ts";
import type { CallResult } from "../../../../provider/conformance/platformClient.ts";
import { resolve } from "../../../../provider/conformance/references.ts";
import { inOrder } from "../../../../provider/conformance/run.ts";
import { findDifference } from "../../../../provider/conformance/trial.ts";
import type { EndpointName } from "../../../../provider/contract/endpoints.ts";
import { codeOf } from "../../../../provider/contract/errors.ts";
import { isObject } from "../../../../provider/contract/wire.ts";
import { usualHabits, type HabitName } from "../../../../provider/habits/habits.ts";
import type { RecordedExchange } from "../../../recording/exchange.ts";

type Applies = (exchange: RecordedExchange) => boolean;

const answered =
  (...names: EndpointName[]): Applies =>
  ({ name, refused }) =>
    names.includes(name) && refused === undefined;

/** Codes of a refusal that may be about the request itself, not about who sends it or when. */
const ofRequest: ReadonlySet<string> = new Set([
  "notFound",
  "invalidRequest",
  "rejected",
  "notImplemented",
  "conflict",
]);

/** True for an answer, and for a refusal of the request itself. */
const isAboutRequest: Applies = ({ status, refused }) =>
  refused === undefined || ofRequest.has(codeOf(status, refused));
const of =
  (...names: EndpointName[]): Applies =>
  (exchange) =>
    names.includes(exchange.name) && exchange.request !== undefined && isAboutRequest(exchange);
const both =
  (...all: Applies[]): Applies =>
  (exchange) =>
    all.every((one) => one(exchange));
/** The refusals of these two are documented in a form of their own. */
const isRefused: Applies = ({ name, refused }) =>
  refused !== undefined && name !== "sendnotification" && name !== "userid";
const lacks =
  (key: string): Applies =>
  ({ answer, refused }) =>
    refused !== undefined || answer?.[key] === undefined;
const isListed: Applies = ({ answer }) => Array.isArray(answer?.["teamMembers"]) && answer["teamMembers"].length > 0;
const withoutKey: Applies = ({ headers }) =>
  headers["x-api-key"] === undefined && headers["x-auth-token"] !== undefined;

/**
 * Habits that any one call shows, whatever its values: the fact of the habit has the forms, and here stands which calls
 * may be held against them.
 */
const signs: Partial<Record<HabitName, Applies>> = {
  writeEnvelope: answered("insertmicroapprow"),
  readEnvelope: answered("microappdata"),
  creationResult: answered("insertorganization", "insertteam"),
  failureForm: isRefused,
  failureStatus: isRefused,
  idForm: answered("insertmicroapprow"),
  newIDName: answered("insertmicroapprow"),
  successWord: answered("updatemicroapprow", "updateorganization", "updateteam"),
  loginEnvelope: answered("login"),
  userLookupEnvelope: answered("userid"),
  keyNeeded: both(answered("createappwithprompt"), withoutKey),
  rowsName: answered("microappdata"),
  noMatch: both(
    answered("microappdata"),
    ({ answer }) => Array.isArray(answer?.["microAppRows"]) && answer["microAppRows"].length === 0,
  ),
  unknownRow: both(of("microappdataRow"), lacks("currentRow")),
  insertedCount: answered("insertmicroapprows"),
  emptyViewers: both(
    answered("microappdataRow"),
    ({ answer }) => isObject(answer?.["currentRow"]) && isNone(answer["currentRow"]["viewers"]),
  ),
  submittedForm: both(answered("microappdataRow"), ({ answer }) => answer?.["currentRow"] !== undefined),
  createdAt: both(answered("readteam"), ({ answer }) => answer?.["team"] !== undefined),
  unknownThing: both(of("readteam"), lacks("team")),
  memberForm: both(answered("teammembers"), isListed),
  memberPlace: both(answered("teammembers"), isListed),
  memberAddress: both(answered("teammembers"), isListed),
  defaultChannel: both(answered("sendnotification"), ({ sent }) => sent["channel"] === undefined),
  appLink: answered("createappwithprompt"),
  attachments: both(of("createappwithprompt"), ({ sent }) => (sent["attachments"] ?? null) === null),
  appStatus: answered("createappwithpromptStatus"),
};

const isNone = (list: unknown): boolean => list === undefined || (Array.isArray(list) && list.length === 0);

/** Habits of which an alternative would match any answer, where those that they presume were not seen. */
const strict: ReadonlySet<HabitName> = new Set(["noMatch"]);

/** The facts that tell of habits, by habit, each after those that it presumes. */
export const tellersOf = (facts: readonly Fact[]): Map<HabitName, Fact> =>
  new Map(inOrder(facts).flatMap((fact): [HabitName, Fact][] => (fact.habit ? [[fact.habit, fact]] : [])));

/** The call as facts are compared with. */
export const resultOf = ({ status, wire: body, answer, refused }: RecordedExchange): CallResult =>
  refused !== undefined
    ? { kind: "refused", status, body, code: codeOf(status, refused), message: refused }
    : answer === undefined
      ? { kind: "unreadable", status, body, code: "badAnswer", message: "" }
      : { kind: "answer", status, body, answer };

/** Habits that a call shows by itself. */
export function* signsOf(
  exchange: RecordedExchange,
  tellers: ReadonlyMap<HabitName, Fact>,
  known: ReadonlyMap<HabitName, string>,
): Generator<{ fact: Fact; name: HabitName; value: string }> {
  for (const [name, fact] of tellers) {
    if (signs[name]?.(exchange) !== true || isPresumedOtherwise(fact, name, known)) continue;
    const value = valueOf(name, fact, resultOf(exchange));
    if (value !== undefined) yield { fact, name, value };
  }
}

function isPresumedOtherwise({ presumes }: Fact, name: HabitName, known: ReadonlyMap<HabitName, string>): boolean {
  const isUnseen = strict.has(name) && (Object.keys(presumes) as HabitName[]).some((each) => needsSight(each, known));
  return isUnseen || isOtherwise(presumes, known);
}

/** True where a habit that a fact presumes was seen to be another one. */
export const isOtherwise = (presumes: Fact["presumes"], known: ReadonlyMap<HabitName, string>): boolean =>
  findWrongHabit(presumes, Object.fromEntries(known)) !== undefined;

/** Filters are left out: a read without rows shows nothing of them, and the same of the habit without one. */
const needsSight = (name: HabitName, known: ReadonlyMap<HabitName, string>): boolean =>
  name !== "viewFilters" && !known.has(name);

function valueOf(name: HabitName, { steps }: Fact, result: CallResult): string | undefined {
  const step = steps.find(({ otherwise }) => otherwise !== undefined);
  if (!step) return undefined;
  if (!findDifference(loosened(step), result)) return usualHabits[name];
  for (const [value, alternatives] of Object.entries(step.otherwise ?? {})) {
    if (alternatives.some((outcome) => !findDifference(loosened(outcome), result))) return value;
  }
  return undefined;
}

/** An outcome in which IDs, counts and times of the fact's own things are any of their kind. */
function loosened({ answer, body, refused }: StepOutcome): StepOutcome {
  const anyID = { $either: ["$text", "$number"] };
  const loose = (value: unknown): unknown => {
    if (typeof value === "number") return "$number";
    if (Array.isArray(value)) return value.map(loose);
    if (!isObject(value)) return resolve(value, ids);
    if ("$recent" in value) return "$number";
    const isBound = ([key, inner]: [string, unknown]): boolean => isOperator(key) && typeof inner === "number";
    return Object.fromEntries(
      Object.entries(value).map((entry) => (isBound(entry) ? entry : [entry[0], loose(entry[1])])),
    );
  };
  const ids = new Map<string, unknown>(["member.userID", "member.email"].map((id) => [id, anyID]));
  return {
    ...(answer === undefined ? {} : { answer: loose(answer) }),
    ...(body === undefined ? {} : { body: loose(body) }),
    ...(refused === undefined ? {} : { refused }),
  };
}
