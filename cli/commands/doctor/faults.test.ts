import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { faultKinds } from "../../../emulator/platform/faults.ts";
import { partOf } from "../../../testing/harness/drawn.ts";
import { Clinic, secrets, type Case } from "./testing/clinic.ts";

let clinic: Clinic;
beforeAll(async () => (clinic = await Clinic.open()));
afterAll(() => clinic.close());

type Fault = NonNullable<Case["faults"]>[number];

/** The endpoints in the order in which they are called: the first answer is one to who has no session. */
const places = {
  answer: { endpoint: "readorganization", count: 1 },
  login: { endpoint: "login" },
  key: { endpoint: "createappwithpromptStatus" },
  organization: { endpoint: "readorganization", after: 1 },
  rights: { endpoint: "teammembers" },
  table: { endpoint: "microappdata" },
  logout: { endpoint: "logout" },
} as const satisfies Record<string, Omit<Fault, "kind">>;
type Place = keyof typeof places;

const faults = {
  "500": { kind: "status" },
  "429": { kind: "status", status: 429, retryAfter: 30 },
  "403": { kind: "status", status: 403 },
  reset: { kind: "reset" },
  timeout: { kind: "timeout" },
  brokenJSON: { kind: "brokenJSON" },
  errorInside: { kind: "errorInside" },
  expiredToken: { kind: "expiredToken" },
  slow: { kind: "slow", milliseconds: 100 },
  defaultLimit: { kind: "defaultLimit", limit: 2 },
  keepsPart: { kind: "keepsPart" },
  otherForms: { kind: "otherForms" },
  late: { kind: "late" },
  cascades: { kind: "cascades" },
  partialBatch: { kind: "partialBatch" },
  twice: { kind: "twice" },
  dropsViewers: { kind: "dropsViewers" },
  changedTexts: { kind: "changedTexts" },
  repeatedItems: { kind: "repeatedItems" },
  otherIDs: { kind: "otherIDs" },
} as const satisfies Record<string, Fault>;
type Sentences = Partial<Record<keyof typeof faults, string>>;

/** The first sentence that follows from each fault at an endpoint; nothing is wrong where there is none. */
const usual = (what: string): Sentences => ({
  "500": `<platform> fails at ${what} (HTTP 500).`,
  "429": "<platform> takes no more calls for now (HTTP 429).",
  reset: `<platform> ends the connection without an answer to ${what}.`,
  timeout: `<platform> gives no answer to ${what}.`,
  brokenJSON: `<platform> answers ${what} in a form that is not known: The answer is not JSON.`,
  errorInside: `<platform> refuses ${what}: This failure was asked for.`,
  expiredToken: "The platform ended the session after the login: You must be logged in: the token is not valid.",
});
const refused = "The platform refuses the login of ada@example.com: This failure was asked for.";
const sentences: Record<Place, Sentences> = {
  answer: {
    "500": "<platform> is not working now (HTTP 500): This failure was asked for.",
    "429": "<platform> takes no more calls for now (HTTP 429).",
    reset: "<platform> ends the connection without an answer (ECONNRESET).",
    timeout: "<platform> takes connections and gives no answer.",
    brokenJSON: "<platform> answers with something that is not JSON where the platform's API should be.",
  },
  login: {
    ...usual("login"),
    "429": "The platform takes no login for now: This failure was asked for.",
    "403": refused,
    errorInside: refused,
    expiredToken: undefined,
    keepsPart: usual("login").expiredToken, // a session that is not kept
  },
  key: {
    ...usual("createappwithpromptStatus"),
    brokenJSON:
      "<platform> answers createappwithpromptStatus in a form that is not known: HTTP 404 without an answer of the platform's.",
  },
  organization: {
    ...usual("readorganization"),
    "403": "This account may not read organization org-acme.",
  },
  rights: {
    ...usual("teammembers"),
    "403": "ada@example.com may not read the teams of the state.",
  },
  table: {
    ...usual("microappdata"),
    "403": "This account may not read table regions.",
    repeatedItems: "3 keys are in several rows of table regions: R1, R2, R3.",
  },
  logout: {},
};
/** Refusals that may meet a caller. */
const refusals = [refused, usual("").expiredToken, sentences.login["429"]];

const cases = (Object.keys(places) as Place[]).flatMap((place) =>
  (Object.keys(faults) as (keyof typeof faults)[]).map((fault) => [place, fault] as const),
);

test.each(partOf(cases, 0, 2))("%s: %s", async (place, name) => {
  const fault = { ...faults[name], ...places[place] };
  const outcome = await clinic.look({
    config: { apiKey: secrets.apiKey },
    faults: [fault],
    surroundings: { timeoutMs: 1_000 },
  });
  const seen = outcome.findings.find(({ is }) => is === "wrong")?.seen;
  const expected = sentences[place][name];
  expect(seen === undefined ? undefined : clinic.steady(seen)).toBe(expected);
  expect(outcome.status).toBe(expected === undefined ? 0 : refusals.includes(expected) ? 3 : 2);
});

test("every kind of fault is among them", () => {
  expect(new Set(Object.values(faults).map(({ kind }) => kind))).toEqual(new Set(faultKinds));
});
