import { expect, test } from "@jest/globals";
import type { z } from "zod";
import { endpoints, type EndpointName } from "../../platform/contract/endpoints.ts";
import { isObject } from "../../platform/contract/wire.ts";
import { habits, type HabitName } from "../../platform/profile/profile.ts";
import { resources } from "../../provider/resources/resources.ts";
import { loadFacts, parseFacts } from "./facts.ts";
import { mismatch } from "./matching.ts";

const facts = loadFacts();

/** Headings of the specification, and of what is documented or seen in clients beside it. */
const headings = [
  ...["Data table row", "Linked table field value", "Location field value", "Common rules", "Authentication endpoints"],
  ...["Authentication", "Read many rows", "Read one row", "Row write endpoints", "Child and file endpoints"],
  ...["sendnotification", "App generation", "Organizations, teams and members", "Errors", "Limits"],
  ...["Rows", "Children and files", "Organizations, teams, members"].map((name) => `documentation: ${name}`),
  ...["Names on the wire", "Organizations, teams, members"].map((name) => `clients: ${name}`),
];

test("every fact says where it comes from, and who needs it", () => {
  const known = new Set<string>([...resources.map(({ name }) => name), "client", "everything"]);
  const functions = /^get(?:Rows?|UserID|Team|TeamMembers|Organization|AppStatus)$/;
  for (const { id, source, resources: by } of facts) {
    expect([id, headings]).toEqual([id, expect.arrayContaining([source])]);
    expect([id, by.filter((name) => !known.has(name) && !functions.test(name))]).toEqual([id, []]);
  }
});

test("what is said to help is a setting that there is", () => {
  for (const { helps = "" } of facts) {
    const [, name, value] = /^habits\.(\w+)(?:: (\w+))?/.exec(helps) ?? [];
    if (name === undefined) continue;
    expect(Object.keys(habits)).toContain(name);
    if (value !== undefined) expect(habits[name as HabitName].values).toContain(value);
  }
});

test.each(Object.keys(endpoints) as EndpointName[])("%s has a fact, and each of its parameters is sent", (name) => {
  expect(facts.map(({ id }) => id)).toContain(name);
  const { shape } = endpoints[name].request as unknown as { shape: Record<string, z.ZodType> };
  const sent = new Set(
    facts.flatMap(({ steps }) => steps.flatMap((step) => (step.call === name ? keysIn(step.with) : []))),
  );
  // Sessions are named by `as`; the others are no part of the interface, or refused.
  const elsewhere = {
    ...{ logout: ["authToken", "userId"], insertmicroapprows: ["teamViewers"] },
    ...{ insertteammembers: ["role"], enforceteammembership: ["organizationID"] },
  };
  const others: readonly string[] = (elsewhere as Partial<Record<EndpointName, string[]>>)[name] ?? [];
  expect(Object.keys(shape).filter((parameter) => !sent.has(parameter) && !others.includes(parameter))).toEqual([]);
});

const keysIn = (value: unknown): string[] => (isObject(value) ? Object.keys(value) : []);

test.each<[unknown, unknown, string | undefined]>([
  [{ a: 1 }, { a: 1, b: 2 }, undefined],
  [{ a: [1, { b: "$text" }] }, { a: [1, { b: "" }] }, "a.1.b"],
  [[1], [1, 2], ""],
  [{ $items: [1, 2] }, [2, 1], undefined],
  [{ $items: [1, 1] }, [1, 2], ""],
  [{ $contains: { a: 1 } }, [{ a: 2 }], ""],
  [{ $lacks: 1 }, undefined, ""],
  [{ $either: [null, "$absent"] }, undefined, undefined],
  [{ __proto__: null, a: "$absent" }, { a: null }, "a"],
])("%j and %j", (expected, seen, path) => {
  expect(mismatch(expected, seen)?.path).toBe(path);
});

test("a mistake in a fact is an error, and lets nothing pass", () => {
  expect(() => mismatch({ $contans: 1 }, [1])).toThrow("no matcher is {$contans}");
  expect(() => mismatch("$nobody", "x")).toThrow("nothing is called $nobody");
  const fact = "resources: [x]\nfacts: { login: { rule: r, source: s, steps: [{ call: login, wit: {} }] } }";
  expect(() => parseFacts(fact, "own.yaml")).toThrow("own.yaml");
});
