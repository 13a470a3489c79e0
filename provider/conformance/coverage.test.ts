import { expect, test } from "@jest/globals";
import { z } from "zod";
import { endpoints, type EndpointName } from "../contract/endpoints.ts";
import { isObject } from "../contract/wire.ts";
import { habits, usualHabits, type HabitName } from "../habits/habits.ts";
import type { Fact } from "./fact.ts";
import { forms } from "./forms.ts";
import { loadFacts } from "./load.ts";

const facts = loadFacts();
const ids = new Set(facts.map(({ id }) => id));

const numbered = (count: number, word = ""): string[] =>
  Array.from({ length: count }, (_, index) => `${word}${index + 1}`);
const words = (text: string): string[] => text.split(" ");

/** The specification's content, by heading: sentences by number, rows of tables by name. */
const specification: Record<string, string[]> = {
  "What the service does": numbered(8),
  "Data table row": [
    ...numbered(8),
    ...words("_id userID viewers isLocked submitted deviceID appVersion hasConflict clientCounter clientSubmitted"),
  ],
  "Linked table field value": words("crossAppRowID value additionalValues"),
  "Location field value": words("1 country formattedAddress geometry parts"),
  "States and transitions": numbered(2),
  "Common rules": numbered(4),
  "Authentication endpoints": words("login logout userid"),
  "Read many rows": [
    ...words("microAppID searchFilter optSearchFilters optViewFilters optViewSort optLimit optIsVectorSearch"),
    ...words("optVectorSearchString optVectorSearchNumCandidates platformFormat resultContentType optIsStatic"),
    ...words("optExcludeMicroApps searchFilter.resourceID searchFilter.field searchFilter.order searchFilter.skip"),
    ...words("searchFilter.limit optSearchFilters.resourceID optSearchFilters.fieldID optSearchFilters.value"),
    ...numbered(4, "rule "),
  ],
  "Read one row": words("rowID response"),
  "Row write endpoints": [
    ...words("insertmicroapprow insertmicroapprows updatemicroapprow removemicroapprow"),
    ...numbered(3, "rule "),
  ],
  "Child and file endpoints": words("list create update delete storecopy uploadFileToStore"),
  sendnotification: [...words("appID email message badgeCount channel success"), ...numbered(4, "rule ")],
  // Its fifth rule is advice to people: there is nothing to call.
  "App generation": [...words("createappwithprompt status"), ...numbered(4, "rule ")],
  "Organizations, teams and members": [
    ...words("insertorganization readorganization updateorganization deleteorganization"),
    ...words("insertteam readteam updateteam deleteteam insertteammembers teammembers readteammember"),
    ...words("updateteammember deleteteammember enforceteammembership"),
  ],
  Authentication: numbered(5),
  Errors: words("appID email forbidden user"),
  Limits: ["rows per request", "default limit", "limit", "availability"],
};
/** Sections of what is known beside the specification. */
const sections = words("Envelopes Authentication Rows");
sections.push("Names on the wire", "Children and files", "Organizations, teams, members", "App generation");

const places = new Set([
  ...Object.entries(specification).flatMap(([heading, names]) => names.map((name) => `${heading}: ${name}`)),
  ...["documentation", "clients"].flatMap((source) => sections.map((section) => `${source}: ${section}`)),
]);

test("every sentence of the specification has a fact", () => {
  const held = new Set(facts.flatMap(({ evidence }) => evidence.place));
  const unheld = [...places].filter((place) => !/^(documentation|clients): /.test(place) && !held.has(place));
  expect(unheld).toEqual([]);
});

test("every fact names a place that there is, or when it was recorded", () => {
  const known = (place: string): boolean => places.has(place) || /^\d{4}-\d\d-\d\d/.test(place);
  const wrong = facts.flatMap(({ id, evidence }) =>
    evidence.place.filter((place) => !known(place)).map((at) => [id, at]),
  );
  expect(wrong).toEqual([]);
});

test("a label of evidence is that of its place, and no documented refusal has a code: none is shown", () => {
  const wrong = facts.filter(({ evidence: { kind, place }, steps }) => {
    const isOfClients = place.every((at) => at.startsWith("clients: "));
    if (kind === "documented") return isOfClients || steps.some(({ refused }) => refused?.code !== undefined);
    return kind === "client" && !isOfClients;
  });
  expect(wrong.map(({ id }) => id)).toEqual([]);
});

test("no fact is there twice", () => {
  expect(ids.size).toBe(facts.length);
});

test.each(Object.keys(habits) as HabitName[])("%s is shown by a fact, with every value", (name) => {
  const telling = facts.filter(({ habit }) => habit === name);
  expect(telling.length).toBe(1); // a second one would say the same again
  const shown = new Set(telling.flatMap(({ steps }) => steps.flatMap(({ otherwise = {} }) => Object.keys(otherwise))));
  expect([usualHabits[name], ...shown].toSorted()).toEqual([...habits[name].values].toSorted());
});

test("a fact does not presume of a habit what it tells itself", () => {
  for (const { id, habit, presumes } of facts)
    expect([id, habit !== undefined && habit in presumes]).toEqual([id, false]);
});

test.each(Object.keys(endpoints) as EndpointName[])("%s has facts, one for each of its parameters", (name) => {
  const first = Object.values(forms[name])[0]?.to;
  // Where GET and POST are both documented, contract and table may differ in it.
  expect([`GET ${endpoints[name].path}`, `POST ${endpoints[name].path}`]).toContain(first);
  expect(ids.has(name)).toBe(true);
  const { shape } = endpoints[name].request as unknown as { shape: Record<string, z.ZodType> };
  const parameters = Object.entries(shape).flatMap(([parameter, schema]) => [
    parameter,
    ...innerNames(schema).map((inner) => `${parameter}.${inner}`),
  ]);
  expect(parameters.filter((parameter) => !ids.has(`${name} ${parameter}`))).toEqual([]);
});

/** Names of what the items of a list have, where they have a form. */
function innerNames(schema: z.core.$ZodType): string[] {
  if (schema instanceof z.ZodOptional) return innerNames(schema.unwrap());
  return schema instanceof z.ZodArray && schema.element instanceof z.ZodObject ? Object.keys(schema.element.shape) : [];
}

test("a fact calls the endpoint that it begins with, and one of a parameter sends it", () => {
  const idle = facts.filter(({ id, steps }) => {
    const [called = "", rule] = id.split(": ");
    const [name, parameter] = rule === undefined ? called.split(" ") : [called.split(" ")[0]];
    return !steps.some((step) => step.call === name && (parameter === undefined || sends(step, parameter.split("."))));
  });
  expect(idle.map(({ id }) => id)).toEqual([]);
});

const sends = ({ with: request, each = [{}], as }: Fact["steps"][number], path: string[]): boolean =>
  each.some((variant) => has({ ...request, ...variant }, path)) || (typeof as === "object" && has(as, path));

function has(value: unknown, [name, ...rest]: string[]): boolean {
  if (name === undefined) return true;
  if (Array.isArray(value)) return value.some((item) => has(item, [name, ...rest]));
  return isObject(value) && name in value && has(value[name], rest);
}
