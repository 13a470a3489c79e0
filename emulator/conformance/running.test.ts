import { afterAll, beforeAll, beforeEach, expect, test } from "@jest/globals";
import type { Fact } from "../../provider/conformance/fact.ts";
import { loadFacts, parseFacts } from "../../provider/conformance/load.ts";
import type { MadeThing } from "../../provider/conformance/made.ts";
import type { Send } from "../../provider/conformance/platformClient.ts";
import { inOrder, needsOf, runFacts } from "../../provider/conformance/run.ts";
import { isObject, type Json } from "../../provider/contract/wire.ts";
import { startSandbox, type ConformanceSandbox } from "../testing/sandbox.ts";

const facts = loadFacts();
const cheap = facts.filter((fact) => !needsOf(fact).includes("manyRows"));

let stage: ConformanceSandbox;
beforeAll(async () => {
  stage = await startSandbox();
});
beforeEach(() => stage.reset());
afterAll(() => stage.close());

const keyOf = ({ kind, id }: MadeThing): string => `${kind} ${id}`;

test("facts leave nothing behind, apart from what nothing can delete", async () => {
  const { sandbox, send, emulator } = stage;
  const [made, removed]: [string[], string[]] = [[], []];
  await runFacts({
    ...{ facts: cheap, sandbox, send },
    made: (thing) => made.push(keyOf(thing)),
    removed: (thing) => removed.push(keyOf(thing)),
  });
  const left = made.filter((thing) => !removed.includes(thing) && !/^(app|file) /.test(thing));
  expect([made.length > 100, left]).toEqual([true, []]);
  // Former team members stay in the organization, and refused calls leave their sessions: those tables may differ.
  const changed = emulator.differences("bed").filter(({ table }) => ["rows", "teams", "organizations"].includes(table));
  expect(changed).toEqual([]);
});

/** The facts of a text below `facts:`. */
const factsOf = (text: string): Fact[] => parseFacts(`version: 1\nfacts:\n${text}`, "test.yaml");
const evidence = "evidence: { kind: assumed, place: here }";
const inserting = factsOf(`
  insertmicroapprow:
    rule: inserts
    ${evidence}
    steps:
      - { call: insertmicroapprow, with: { microAppID: $countries, rowData: { Code: CZ } } }
      - { call: insertmicroapprow, with: { microAppID: $countries, rowData: { Code: AT } } }
  "insertmicroapprow: again":
    rule: inserts again
    ${evidence}
    steps:
      - { call: insertmicroapprow, with: { microAppID: $countries, rowData: { Code: CZ } } }
`);

test("a run that is stopped removes what was made so far, and tries no more", async () => {
  const { sandbox, emulator } = stage;
  const stop = new AbortController();
  const sent: string[] = [];
  const send: Send = async (request, signal) => {
    sent.push(request.url);
    const answer = await stage.send(request, signal);
    if (request.url.endsWith("insertmicroapprow")) stop.abort();
    return answer;
  };
  const removed: string[] = [];
  const results = await runFacts({
    ...{ facts: inserting, sandbox, send, signal: stop.signal },
    removed: ({ kind }) => removed.push(kind),
  });
  expect(results.map(({ status }) => status)).toEqual(["notTried", "notTried"]);
  expect(sent.filter((url) => url.endsWith("row"))).toHaveLength(2);
  expect(removed).toEqual(["row"]);
  expect(emulator.differences("bed").filter(({ table }) => table === "rows")).toEqual([]);
});

test("what is made is reported before the next call goes out", async () => {
  const { sandbox } = stage;
  const order: string[] = [];
  const send: Send = (request, signal) => {
    order.push(request.url.split("/").at(-1) ?? "");
    return stage.send(request, signal);
  };
  await runFacts({ facts: inserting.slice(0, 1), sandbox, send, made: ({ kind }) => order.push(`made ${kind}`) });
  const [insert, remove] = ["insertmicroapprow", "removemicroapprow"];
  expect(order).toEqual(["login", insert, "made row", insert, "made row", remove, remove, "logout"]);
});

test("rows of a batch are removed, and those that were there before are not", async () => {
  const { sandbox, send, emulator } = stage;
  const batch = factsOf(`
  insertmicroapprows:
    rule: inserts
    ${evidence}
    steps:
      - { call: insertmicroapprows, with: { microAppID: $countries, rows: { $times: 3, of: { Code: CZ } } } }
      - { call: microappdata, with: { microAppID: $countries }, answer: { microAppRows: { $length: 4 } } }
`);
  const before = factsOf(`
  insertmicroapprow:
    rule: inserts
    ${evidence}
    steps: [{ call: insertmicroapprow, with: { microAppID: $countries, rowData: { Code: AT } } }]
`);
  await runFacts({ facts: before, sandbox, send, reset: () => {} });
  const [result] = await runFacts({ facts: batch, sandbox, send });
  expect(result?.status).toBe("passed");
  const rows = emulator.differences("bed").find(({ table }) => table === "rows");
  expect([rows?.added.length, rows?.removed.length]).toEqual([1, 0]);
});

test("a fact says why it is not tried", async () => {
  const { sandbox, send } = stage;
  const { countries: _, ...without } = sandbox;
  const some = facts.filter(({ id }) =>
    ["microappdata", "userid: enabled", "microappdata optViewFilters: or"].includes(id),
  );
  const reasons = async (sandbox: ConformanceSandbox["sandbox"], facts: Fact[]) =>
    (await runFacts({ facts, sandbox, send, habits: { viewFilters: "ignored" } })).map((result) =>
      result.status === "notTried" ? result.why : result.status,
    );
  expect(await reasons(without, some.slice(0, 1))).toEqual([
    expect.stringContaining("the sandbox has no countries: ID of"),
  ]);
  expect(await reasons(sandbox, some)).toEqual([
    "passed",
    'What `optViewFilters` do (viewFilters): here it is "ignored"',
    "it needs an emulator",
  ]);
});

test("facts that tell of habits come first, after those that they presume", () => {
  const order = inOrder(facts);
  const index = (id: string): number => order.findIndex((fact) => fact.id === id);
  const tellers = facts.filter(({ habit }) => habit !== undefined).length;
  expect(order.slice(0, tellers).every(({ habit }) => habit !== undefined)).toBe(true);
  for (const { id, habit, presumes } of order) {
    if (habit === undefined) continue;
    for (const teller of order) {
      if (teller.habit !== undefined && teller.habit in presumes) expect(index(teller.id)).toBeLessThan(index(id));
    }
  }
});

test("facts of a file that presume each other's habits are put in some order", () => {
  const tellers = facts.filter(({ habit }) => habit !== undefined);
  const presumes = Object.fromEntries(tellers.map(({ habit }) => [String(habit), "any"])) as Fact["presumes"];
  expect(inOrder(tellers.map((fact) => ({ ...fact, presumes })))).toHaveLength(tellers.length);
});

/** Ways to answer otherwise, as another platform does: the value of a habit, and what becomes of a body. */
const others: Record<string, [value: string, change: (body: Json, url: string) => unknown]> = {
  writeEnvelope: [
    "body",
    ({ rowID: _, inserted: __, ...body }, url) => (url.includes("insertmicroapprow") ? body : undefined),
  ],
  successWord: ["ok", (body) => ({ ...body, ...(body["status"] === "success" ? { status: "ok" } : {}) })],
  loginEnvelope: ["data", ({ status, data }, url) => (url.endsWith("login") ? { status, data } : undefined)],
  numberForm: ["text", (body) => withText(body)],
};
const withText = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withText);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      ["Population", "Digits"].includes(key) && typeof inner === "number" ? String(inner) : withText(inner),
    ]),
  );
};
const some = (habit: string): Fact[] => facts.filter((fact) => fact.section === "rowValues" || fact.habit === habit);

test.each(Object.entries(others))("a platform with another %s fails that one fact", async (habit, [value, change]) => {
  const { sandbox } = stage;
  const send: Send = async (request, signal) => {
    const answer = await stage.send(request, signal);
    const body = JSON.parse(answer.text) as unknown;
    return { ...answer, text: JSON.stringify((isObject(body) ? change(body, request.url) : undefined) ?? body) };
  };
  const results = await runFacts({ facts: some(habit), sandbox, send });
  const failed = results.filter(({ status }) => status === "failed");
  expect(failed).toMatchObject([{ habit: { name: habit, value } }]);
});

test("a difference that is no habit is named with its place and both values", async () => {
  const { sandbox, send } = stage;
  const wrong = factsOf(`
  microappdataRow:
    rule: lies
    ${evidence}
    steps:
      - { call: insertmicroapprow, with: { microAppID: $countries, rowData: { Code: CZ } }, keep: { row: rowID } }
      - { call: microappdataRow, with: { rowID: $row }, answer: { currentRow: { Code: AT } } }
`);
  const [result] = await runFacts({ facts: wrong, sandbox, send });
  expect(result).toMatchObject({ status: "failed", step: 1, path: "currentRow.Code", expected: "AT", seen: "CZ" });
  expect(result).not.toHaveProperty("habit.value");
});
