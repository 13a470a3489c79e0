import { expect, test } from "@jest/globals";
import { MemberLists } from "../../../provider/people/members.ts";
import type { EndpointName } from "../../contract/endpoints.ts";
import { serve } from "../testing/server.ts";
import { parseReply } from "./messages.ts";

// Forms of answers: those that the specification or public client code names are read, any other is refused with the keys
// that came and those that were expected.

const parsed = (name: EndpointName, answer: unknown) =>
  parseReply(name, {
    ...{ status: 200, text: JSON.stringify(answer), location: undefined, retryAfter: undefined, date: undefined },
  });

const rows = [{ _id: "r1", Code: "AT" }];
const team = { _id: "t1", name: "Crew" };
const ada = { userID: "u1", email: "ada@example.com" };
const session = { authToken: "t", userId: "u1" };

const read: [EndpointName, unknown, object][] = [
  ["login", session, session],
  ["login", { status: "success", data: session }, session],
  ["userid", { body: { status: "success", message: "User found", userID: "u1" } }, { userID: "u1" }],
  ["userid", { userID: "u1" }, { userID: "u1" }],
  ["microappdata", { body: { microAppRows: rows } }, { microAppRows: rows }],
  ["microappdata", { body: { microAppRows: [] } }, { microAppRows: [] }],
  ["microappdataRow", { body: { currentRow: rows[0] } }, { currentRow: rows[0] }],
  ["microappdataRow", { currentRow: rows[0] }, { currentRow: rows[0] }],
  ["microappdataRow", { status: "success", body: {} }, {}],
  ["insertmicroapprow", { status: "success", rowID: "r1" }, { rowID: "r1" }],
  ["insertmicroapprow", { status: "success", body: { rowID: "r1" } }, { rowID: "r1" }],
  ["insertmicroapprows", { status: "success", inserted: 2 }, { inserted: 2 }],
  ["insertmicroapprows", { status: "success" }, {}],
  ["updatemicroapprow", { status: "success" }, {}],
  ["microappchildList", { body: { childItems: [{ _id: "c1" }] } }, { childItems: [{ _id: "c1" }] }],
  ["microappchildCreate", { body: { childID: "c1" } }, { childID: "c1" }],
  ["microappchildStorecopy", { status: "success", signedUrl: "s" }, { signedUrl: "s" }],
  ["insertorganization", { status: "success", result: "o1" }, { organizationID: "o1" }],
  ["insertteam", { status: "success", result: { _id: "t1" } }, { teamID: "t1" }],
  ["readteam", { status: "success", body: team }, { team }],
  ["readteam", { status: "success", body: {} }, {}],
  ["teammembers", { body: { teamMembers: [ada] } }, { teamMembers: [ada] }],
  ["teammembers", { teamMembers: ["u1"] }, { teamMembers: [{ userID: "u1" }] }],
  ["teammembers", { body: [{ _id: "m1", ...ada }] }, { teamMembers: [{ teamMemberID: "m1", ...ada }] }],
  ["teammembers", { result: ["u1"] }, { teamMembers: [{ userID: "u1" }] }],
  ["createappwithprompt", "https://apps.example.com/a", { link: "https://apps.example.com/a" }],
  ["createappwithprompt", { url: "https://apps.example.com/a" }, { link: "https://apps.example.com/a" }],
  ["createappwithpromptStatus", { body: { status: "failed", message: "no" } }, { status: "failed", message: "no" }],
];

test.each(read)("%s reads %j", (name, answer, expected) => {
  expect(parsed(name, answer)).toMatchObject({ answer: expected });
});

/** What a platform might answer as well: what came of it, by its keys, and what was expected. */
const refused: [EndpointName, unknown, came: string, expected: string][] = [
  ["login", { authToken: "t", userId: 7 }, "authToken, userId", "authToken or data.authToken"],
  ["login", { body: session }, "body.authToken, body.userId", "authToken or data.authToken"],
  ["userid", { body: { user: "u1" } }, "body.user", "body.userID or userID"],
  ["microappdata", { body: { rows } }, "body.rows[]", "body.microAppRows or microAppRows"],
  ["microappdata", { data: rows }, "data[]._id, data[].Code", "body.microAppRows or microAppRows"],
  ["microappdata", rows, "[]._id, [].Code", "body.microAppRows or microAppRows"],
  ["microappdata", { result: { microAppRows: rows } }, "result.microAppRows[]", "body.microAppRows or microAppRows"],
  ["microappdata", { body: { microAppRows: null } }, "body.microAppRows", "body.microAppRows or microAppRows"],
  ["microappdata", { body: {} }, "body without keys", "body.microAppRows or microAppRows"],
  ["microappdata", { body: { microAppRows: "[]" } }, "body.microAppRows", "body.microAppRows or microAppRows"],
  [
    "microappdata",
    { body: { microAppRows: { r1: rows[0] } } },
    "body.microAppRows",
    "body.microAppRows or microAppRows",
  ],
  [
    "microappdata",
    { body: { microAppRows: [{ _id: 5 }] } },
    "body.microAppRows[]",
    "body.microAppRows or microAppRows was expected (microAppRows.0 is none)",
  ],
  ["microappdataRow", { body: { currentRow: null } }, "body.currentRow", "body.currentRow or currentRow"],
  ["microappdataRow", { body: { row: rows[0] } }, "body.row", "body.currentRow or currentRow"],
  ["insertmicroapprow", { status: "success", _id: "r1" }, "status, _id", "rowID or body.rowID"],
  ["insertmicroapprow", { status: "success", rowID: 5 }, "status, rowID", "rowID or body.rowID"],
  ["insertmicroapprows", { status: "success", inserted: "2" }, "status, inserted", "inserted or body.inserted"],
  ["updatemicroapprow", { status: "ok" }, "status", 'status: "success"'],
  ["updatemicroapprow", { success: false, message: "no" }, "success, message", 'status: "success"'],
  ["updatemicroapprow", { error: 403, reason: "no" }, "error, reason", 'status: "success"'],
  ["updatemicroapprow", { error: { message: "no" } }, "error.message", 'status: "success"'],
  ["removemicroapprow", [], "[]", 'status: "success"'],
  ["removemicroapprow", "gone", "no keys (string)", 'status: "success"'],
  [
    "insertorganization",
    { status: "success", organization: { _id: "o1" } },
    "status, organization._id",
    "result._id or result",
  ],
  ["insertteam", { status: "success", result: { id: "t1" } }, "status, result.id", "result._id or result"],
  ["insertteam", { status: "success" }, "status", "result._id or result"],
  ["readteam", { status: "success", ...team }, "status, _id, name", "body was expected"],
  ["readteam", { result: team }, "result._id, result.name", "body was expected"],
  ["readteam", { body: { team } }, "body.team", "body was expected (team._id is none)"],
  ["readteam", { body: null }, "body", "body was expected"],
  ["teammembers", { body: { userIDs: ["u1"] } }, "body.userIDs[]", "body.teamMembers or teamMembers or body or result"],
  ["teammembers", { body: { t1: [ada] } }, "body.t1[]", "body.teamMembers or teamMembers or body or result"],
  ["teammembers", { body: [7] }, "body[]", "body.teamMembers or teamMembers or body or result"],
  ["microappchildList", { children: [] }, "children[]", "body.childItems or childItems"],
  ["createappwithprompt", { appID: "a1" }, "appID", "a text or link or url or body"],
  ["createappwithpromptStatus", { result: { status: "done" } }, "result.status", "body.status"],
  ["createappwithpromptStatus", { status: "success" }, "status", "body.status"],
];

test.each(refused)("%s does not read %j", (name, answer, came, expected) => {
  const message = `The answer is not as documented: it has ${came}, and ${expected}`;
  expect(parsed(name, answer)).toMatchObject({
    failed: { code: "badAnswer", lasting: true, message: expect.stringMatching(new RegExp(`^${escape(message)}`)) },
  });
});

const escape = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");

test.each([{ status: "failure", message: "Row r1 not found" }, { body: { status: "failure", message: "not found" } }])(
  "%j is a refusal, and nothing was removed",
  (answer) => {
    expect(parsed("removemicroapprow", answer)).toMatchObject({ failed: { code: "notFound" } });
  },
);

test("a member without a user ID is refused", async () => {
  const server = await serve(({ endpoint }) =>
    endpoint === "teammembers" ? { body: [{ _id: "m1", email: "ada@example.com" }] } : undefined,
  );
  await expect(new MemberLists(server.client(), {}).list("t1")).rejects.toMatchObject({
    platformMessage: "A member of team t1 came without a user ID",
  });
  await server.close();
});
