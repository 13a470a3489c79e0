import { afterEach, describe, expect, test } from "@jest/globals";
import type { EndpointName } from "../../contract/endpoints.ts";
import { TeamLists } from "../members/teamLists.ts";
import { serve, type Server } from "../testing/server.ts";
import { parseReply } from "./answers.ts";

// Forms of answers that platforms have beside the documented ones: understood where they are plain, else refused with the
// keys that the answer has.

const parsed = (name: EndpointName, answer: unknown) =>
  parseReply(name, {
    ...{ status: 200, text: JSON.stringify(answer), location: undefined, retryAfter: undefined, date: undefined },
  });

const rows = [
  { _id: "r1", Code: "AT" },
  { _id: "r2", Code: "CZ" },
];
const byID = { r1: rows[0], r2: rows[1] };
const team = { _id: "t1", name: "Crew" };
const ada = { userID: "u1" };

const understood: [string, EndpointName, unknown, object][] = [
  ["rows as a text", "microappdata", { body: { microAppRows: JSON.stringify(rows) } }, { microAppRows: rows }],
  ["a body as a text", "microappdata", { body: JSON.stringify(rows) }, { microAppRows: rows }],
  ["each row as a text", "microappdata", { rows: rows.map((row) => JSON.stringify(row)) }, { microAppRows: rows }],
  ["rows by their IDs", "microappdata", { body: { microAppRows: byID } }, { microAppRows: rows }],
  ["a body of rows by their IDs", "microappdata", { body: byID }, { microAppRows: rows }],
  [
    "each row under currentRow",
    "microappdata",
    { body: { microAppRows: rows.map((currentRow) => ({ currentRow })) } },
    { microAppRows: rows },
  ],
  ["a row as a text", "microappdataRow", { body: { currentRow: JSON.stringify(rows[0]) } }, { currentRow: rows[0] }],
  ["rows in data", "microappdata", { data: { microAppRows: rows } }, { microAppRows: rows }],
  ["rows in result", "microappdata", { result: rows }, { microAppRows: rows }],
  ["rows in response", "microappdata", { response: { microAppRows: rows } }, { microAppRows: rows }],
  ["no row in result", "microappdataRow", { status: "success", result: {} }, {}],
  ["no team in data", "readteam", { data: null }, {}],
  ["a row in response", "microappdataRow", { response: { currentRow: rows[0] } }, { currentRow: rows[0] }],
  ["a new ID in response", "insertmicroapprow", { response: { rowID: "r1" } }, { rowID: "r1" }],
  ["a new ID that is the response", "insertteam", { status: "success", response: 7 }, { teamID: "7" }],
  ["a team in response", "readteam", { response: team }, { team }],
  ["an organization with info", "readorganization", { body: { _id: "o1", organizationInfo: { name: "A" } } }, {}],
  ["a team with info", "readteam", { body: { _id: "t1", teamInfo: { name: "Crew" } } }, { team }],
  ["a team's members by its ID", "teammembers", { body: { t1: ["u1"] } }, { teamMembers: [{ teamID: "t1", ...ada }] }],
  [
    "users in a team",
    "teammembers",
    { body: { ...team, users: [{ _id: "u1", emails: [{ address: "ada@example.com" }] }] } },
    { teamMembers: [{ ...ada, email: "ada@example.com" }] },
  ],
  [
    "members in a team",
    "teammembers",
    { team: { ...team, members: [ada] } },
    { teamMembers: [{ teamID: "t1", ...ada }] },
  ],
  [
    "users in each of several teams",
    "teammembers",
    {
      body: {
        teams: [
          { ...team, users: ["u1"] },
          { _id: 8, name: "Ops", users: [ada] },
        ],
      },
    },
    {
      teamMembers: [
        { teamID: "t1", ...ada },
        { teamID: "8", ...ada },
      ],
    },
  ],
  ["members in response", "teammembers", { response: { teamMembers: [ada] } }, { teamMembers: [ada] }],
  ["numbers as IDs", "readteam", { body: { _id: 5, name: "Crew", organizationID: 6 } }, { team: { _id: "5" } }],
  [
    "child records in response",
    "microappchildList",
    { response: { childItems: [{ _id: 3 }] } },
    { childItems: [{ _id: "3" }] },
  ],
];

test.each(understood)("%s: understood", (_, name, answer, expected) => {
  expect(parsed(name, answer)).toMatchObject({ answer: expected });
});

const refused: [string, EndpointName, unknown, string][] = [
  ["a text that is no list", "microappdata", { body: { microAppRows: "none" } }, "body.microAppRows"],
  ["rows by another name", "microappdata", { body: { table: rows } }, "body.table"],
  ["rows by numbers that are not their IDs", "microappdata", { body: { 1: rows[0], 2: rows[1] } }, "body.1, body.2"],
  ["a row by another name", "microappdataRow", { status: "success", body: { record: rows[0] } }, "status, body.record"],
  ["members by role", "teammembers", { body: { admins: ["u1"], members: {} } }, "body.admins, body.members"],
  ["an organization without a name", "readorganization", { body: { _id: "o1", title: "A" } }, "body._id, body.title"],
  ["a text in result", "readteam", { status: "success", result: "t1" }, "status, result"],
  ["a list of another record", "microappchildList", { response: [{ key: 1 }] }, "response[].key"],
];

test.each(refused)("%s: refused with the keys", (_, name, answer, keys) => {
  const reply = parsed(name, answer);
  expect(reply).toMatchObject({ failed: { code: "badAnswer" } });
  const { failed } = reply as Extract<typeof reply, { failed: object }>;
  expect(failed.message).toMatch(/^The answer is not as documented: /);
  expect(failed.message.split("; it has ")[1]).toBe(keys);
});

test.each(["body", "result", "data", "response"])("a refusal in %s is one, and nothing was removed", (outer) => {
  const answer = { [outer]: { status: "failure", message: "Row r1 not found" } };
  expect(parsed("removemicroapprow", answer)).toMatchObject({ failed: { code: "notFound" } });
});

describe("an ID of a member that may be its user's", () => {
  let server: Server;
  afterEach(() => server.close());
  const listed = async (userID: string | undefined) => {
    server = await serve(({ endpoint }) => {
      if (endpoint === "teammembers") return { body: [{ _id: "u1", email: "ada@example.com" }, { _id: "u2" }] };
      if (endpoint !== "userid") return undefined;
      return { body: userID === undefined ? { status: "failure", message: "Forbidden" } : { userID } };
    });
    return new TeamLists(server.client(), {}).list("t1");
  };

  test("is the user's where userid answers the same", async () => {
    expect(await listed("u1")).toMatchObject([{ userID: "u1", email: "ada@example.com" }, { userID: "u2" }]);
  });

  test.each(["u9", undefined])("is refused with what the member has where userid answers %s", async (userID) => {
    await expect(listed(userID)).rejects.toMatchObject({
      platformMessage: "A member of team t1 came without a user ID; it has an ID of its own, an address",
      message: expect.stringContaining("where userid answers the same for the address") as unknown,
    });
  });
});
