import { beforeAll, afterAll, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { z } from "zod";
import type { Endpoint } from "../../platform/contract/endpoint.ts";
import { endpoints, routesOf, type EndpointName } from "../../platform/contract/endpoints.ts";
import { at, isObject, type Json } from "../../platform/contract/wire.ts";
import { isLong } from "../../testing/harness/drawn.ts";
import { createEmulator, type Emulator } from "../emulator.ts";
import { replyOf, seed, signIn, type Caller, type Reply } from "../testing/platform.ts";
import { allowedBy, type Known } from "../testing/requests.ts";
import { openapi } from "./openapi.ts";

// These requests are made from the document alone, so a reader who knows nothing else gets the documented answers.

interface Operation {
  id: string;
  name: EndpointName;
  path: string;
  method: string;
  /** JSON Schema of the parameters, wherever they stand. */
  request: Json;
  /** HTTP statuses of the answers. */
  declared: string[];
  /** The document's rules for a request's parameters and for the body of an answer. */
  allows: (parameters: unknown) => boolean;
  answers: (body: unknown) => boolean;
}

const routes = routesOf();
const operations = Object.entries(openapi("http://here")["paths"] as Record<string, Record<string, Json>>).flatMap(
  ([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Operation => {
      const body = at(operation, "requestBody.content.application/json.schema");
      const request = isObject(body) ? body : queryOf(operation["parameters"] as Json[]);
      return {
        id: String(operation["operationId"]),
        name: routes.get(path)?.name as EndpointName,
        path,
        method: method.toUpperCase(),
        request,
        declared: Object.keys(operation["responses"] as Json),
        allows: judged(request),
        answers: judged(at(operation, "responses.200.content.application/json.schema") as Json),
      };
    }),
);

function judged(schema: Json): (value: unknown) => boolean {
  const judge = z.fromJSONSchema(schema);
  return (value) => judge.safeParse(value).success;
}

function queryOf(parameters: Json[]): Json {
  return {
    type: "object",
    properties: Object.fromEntries(parameters.map(({ name, schema }) => [name, schema])),
    required: parameters.flatMap(({ name, required }) => (required === true ? [name] : [])),
  };
}

const runs = isLong ? 30 : 10;
let emulator: Emulator;
let admin: Caller;
let known: Known;

beforeAll(async () => {
  emulator = await createEmulator({ seed });
  admin = await signIn(emulator.url);
  const ada = await admin.get("body.userID", "userid", { email: "ada@example.com" });
  await admin.get("status", "insertorganization", { organizationInfo: { _id: "acme", name: "Acme" } });
  await admin.get("status", "insertteam", { teamInfo: { _id: "crew", organizationID: "acme", name: "Crew" } });
  await admin.get("status", "insertteammembers", { teamIDs: ["crew"], emails: ["ada@example.com"] });
  await admin.get("status", "insertteam", { teamInfo: { _id: "idle", organizationID: "acme", name: "Idle" } });
  await admin.get("status", "insertorganization", { organizationInfo: { _id: "empty", name: "Empty" } });
  const member = await admin.get("body._id", "readteammember", { teamID: "crew", userID: ada });
  const row = await admin.get("rowID", "insertmicroapprow", { microAppID: "countries", rowData: { Code: "CZ" } });
  const app = await admin.call("createappwithprompt", { userEmail: "ada@example.com", appPrompt: "Count sheep" });
  const childOf = { microAppResourceID: "countries", appID: row, fieldID: "flag", content: {} };
  const child = await admin.get("childID", "microappchildCreate", childOf);
  known = {
    microAppID: ["countries", "cities", "currencies"],
    microAppResourceID: ["countries"],
    teamMemberID: [String(member)],
    organizationID: ["acme", "empty"],
    teamID: ["crew", "idle"],
    userID: [String(ada)],
    adminID: [String(ada)],
    rowID: [String(row)],
    RowID: [String(row)],
    appID: [String(row), String(app.body).split("/").at(-1) ?? ""],
    childID: [String(child)],
    fieldID: ["flag"],
    ResourceID: ["countries", String(row)],
    resourceID: ["countries", String(row)],
    mail: ["ada@example.com", "bob@example.com"],
    label: ["Code", "Population", "sortVal", "sortVal2", "$or", "$gte", "_id"],
  };
  emulator.saveSnapshot("start");
});
afterAll(() => emulator.close());

async function send({ path, method }: Operation, parameters: Json): Promise<Reply> {
  const headers = { "x-auth-token": admin.token, "x-user-id": admin.userID, "x-api-key": "dev-key" };
  const query = method === "GET" ? `?${new URLSearchParams(parameters as Record<string, string>).toString()}` : "";
  const sent = await fetch(`${emulator.url}${path}${query}`, {
    method,
    headers: { ...headers, "content-type": "application/json" },
    ...(method === "GET" ? {} : { body: JSON.stringify(parameters) }),
  });
  return replyOf(sent);
}

/** Describes how an answer differs from the declared one; empty when it doesn't. */
function lacking(name: EndpointName, reply: Reply): string {
  const endpoint: Endpoint = endpoints[name];
  const answer = endpoint.answer.safeParse(endpoint.unwrap(reply.body));
  return answer.success ? "" : answer.error.message;
}

/** Resets the emulator before a call that may change something. */
function renew(name: EndpointName): void {
  if (endpoints[name].effect !== "read") emulator.loadSnapshot("start");
}

describe("requests made of the document", () => {
  test.each(operations)("$id", async (operation) => {
    const { name, request, declared, allows, answers } = operation;
    let accepted = 0;
    emulator.loadSnapshot("start");
    await fc.assert(
      fc.asyncProperty(allowedBy(request, known), async (parameters) => {
        renew(name);
        expect([parameters, allows(parameters)]).toEqual([parameters, true]);
        const reply = await send(operation, parameters as Json);
        expect([parameters, declared]).toEqual([parameters, expect.arrayContaining([String(reply.status)])]);
        if (reply.status === 200) accepted++;
        if (reply.status === 200) expect([reply.body, answers(reply.body)]).toEqual([reply.body, true]);
        if (reply.status === 200) expect(lacking(name, reply)).toBe("");
        else expect(isObject(reply.body) ? Object.keys(reply.body) : []).not.toEqual([]);
        if (name === "logout") admin = await signIn(emulator.url);
      }),
      { numRuns: runs, seed: 4711 },
    );
    // A password can't be guessed, and no host of a download is allowed or file stored.
    const refusedAlways = ["login", "microappchildUploadFileToStore", "microappchildStorecopy"].includes(name);
    expect([name, accepted > 0]).toEqual([name, !refusedAlways]);
  });

  // Parameters one of which is left out or something else: both say yes to them, or both say no.
  test.each(operations)("$id with another parameter", async (operation) => {
    const { name, method, request, allows } = operation;
    const { accept, request: contract }: Endpoint = endpoints[name];
    const parameter = fc.constantFrom(...Object.keys(request["properties"] as Json));
    const value = fc.constantFrom(...(method === "GET" ? [undefined, ""] : [undefined, null, {}, true, 5, "", []]));
    const seen = new Set<boolean>();
    await fc.assert(
      fc.asyncProperty(allowedBy(request, known), parameter, value, async (allowed, changed, value) => {
        renew(name);
        const rest = Object.entries({ ...(allowed as Json), [changed]: value }).filter(
          ([, value]) => value !== undefined,
        );
        const parameters = Object.fromEntries(rest);
        const isAllowed = allows(parameters);
        seen.add(isAllowed);
        const { status } = await send(operation, parameters);
        const isTaken = contract.safeParse(accept({ headers: {}, query: {}, body: parameters })).success;
        expect([parameters, isTaken, isTaken || status === 400]).toEqual([parameters, isAllowed, true]);
        if (name === "logout") admin = await signIn(emulator.url);
      }),
      { numRuns: runs / 2, seed: 4711 },
    );
    expect([...seen]).toContain(false);
  });
});

test("the document has each method, what is needed of several, and where null is taken", () => {
  const methods = (path: string) => operations.filter((one) => one.path === path).map(({ method }) => method);
  expect(methods("/api/userid")).toEqual(["GET", "POST"]);
  expect(methods("/api/microappchild/list")).toEqual(["GET", "POST"]);
  expect(methods("/api/login")).toEqual(["POST"]);
  expect(new Set(operations.map(({ id }) => id)).size).toBe(operations.length);
  const { allows } = operations.find(({ id }) => id === "readteammember") ?? { allows: undefined };
  expect(allows?.({ teamID: "crew", userID: "ada" })).toBe(true);
  expect(allows?.({ teamMemberID: "one", teamID: null })).toBe(true);
  expect(allows?.({ teamID: "crew", userID: null })).toBe(false);
  expect(allows?.({})).toBe(false);
});
