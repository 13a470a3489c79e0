import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { endpoints, type EndpointName } from "../../platform/contract/endpoints.ts";
import { isLong } from "../../testing/harness/drawn.ts";
import { post, seed, signIn, start } from "./platform.ts";

// PROPERTY_RUNS=10000 sends more of them.
const runs = Number(process.env["PROPERTY_RUNS"] ?? (isLong ? 1500 : 150));

const ids = [
  "countries",
  "cities",
  "currencies",
  "acme",
  "team",
  "flag",
  "app",
  "none",
  "",
  "__proto__",
  "' OR 1=1 --",
];
const scalar = fc.oneof(
  fc.constantFrom<unknown>(...ids, "ada@example.com", "CZ", null, true, false, 0, 1, -1, 1e308, 2.5, "1", "2024-01-01"),
  fc.string(),
);
const key = fc.oneof(
  fc.constantFrom("_id", "sortVal", "sortVal2", "sortVal9", "Code", "Tags", "Population", "embeddingRowID", "a.b"),
  fc.constantFrom("$gt", "$in", "$or", "$and", "$not", "$regex", "$options", "$size", "$elemMatch", "$where", "$mod"),
  fc.constantFrom("$exists", "$all", "$nor", "$nin", "$ne", "$eq", "$lte", "__proto__", "constructor", "resourceID"),
  fc.constantFrom("field", "order", "skip", "limit", "fieldID", "value", "name", "organizationID", "crossAppRowID"),
  fc.string(),
);
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    { weight: 3, arbitrary: scalar },
    { weight: 1, arbitrary: fc.array(tie("value"), { maxLength: 4 }) },
    { weight: 2, arbitrary: fc.dictionary(key, tie("value"), { maxKeys: 4 }) },
  ),
}));

/** Requests with the parameters that an endpoint knows, of any value. */
const call = fc.constantFrom(...(Object.keys(endpoints) as EndpointName[])).chain((name) => {
  const { shape } = endpoints[name].request as unknown as { shape: Record<string, unknown> };
  const parameters = Object.fromEntries(
    Object.keys(shape).map((parameter) => [parameter, /ID$/.test(parameter) ? fc.constantFrom(...ids) : value]),
  );
  return fc.record({ name: fc.constant(name), body: fc.record(parameters, { requiredKeys: [] }) });
});

/** Reads of rows in the right outline, with anything inside. */
const filter = fc.dictionary(key, value, { maxKeys: 3 });
const read = fc.record(
  {
    optViewFilters: fc.array(filter, { maxLength: 3 }),
    optViewSort: fc.oneof(fc.dictionary(key, fc.constantFrom(1, -1, "desc")), fc.array(value, { maxLength: 3 })),
    optSearchFilters: fc.array(fc.record({ fieldID: fc.constantFrom("code", "tags", "flag", "Currency"), value })),
    searchFilter: fc.array(
      fc.record({ field: fc.constantFrom("1", "2", "9", 1), skip: fc.constantFrom(0, "1", 1e9), limit: fc.nat(5) }),
      { maxLength: 2 },
    ),
    optIsVectorSearch: fc.boolean(),
    optVectorSearchString: fc.string(),
    platformFormat: fc.boolean(),
  },
  { requiredKeys: [] },
);

/** Rows with declared labels and any values. */
const rowData = fc.dictionary(fc.constantFrom("Code", "Tags", "Population", "Founded", "Capital", "Currency"), value);

const requests = fc.oneof(
  call,
  read.map((body) => ({ name: "microappdata" as const, body: { microAppID: "countries", ...body } })),
  rowData.map((rowData) => ({ name: "insertmicroapprow" as const, body: { microAppID: "countries", rowData } })),
);

test.each([true, false])(
  "no request brings the platform to a failure of its own (strict: %j)",
  async (strict) => {
    const { url } = await start({ seed, settings: { strict } });
    const admin = await signIn(url);
    const headers = { "x-auth-token": admin.token, "x-user-id": admin.userID, "x-api-key": "dev-key" };
    await admin.call("insertorganization", { organizationInfo: { _id: "acme", name: "Acme" } });
    await admin.call("insertteam", { teamInfo: { _id: "team", organizationID: "acme", name: "Team" } });
    await admin.call("insertmicroapprow", {
      microAppID: "countries",
      rowData: { Code: "CZ", Tags: ["EU"], Population: 1 },
    });
    let answered = 0;
    await fc.assert(
      fc.asyncProperty(requests, async ({ name, body }) => {
        if (name === "logout") return;
        const reply = await post(`${url}${endpoints[name].path}`, JSON.stringify(body), headers);
        if (reply.status === 200) answered++;
        expect([name, reply.status < 500, reply.body]).toEqual([name, true, expect.anything()]);
      }),
      { numRuns: runs, seed: 20_240_501 },
    );
    expect(answered).toBeGreaterThan(runs / 8); // else the requests say little
    await signIn(url);
  },
  3_600_000,
);
