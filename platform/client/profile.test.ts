import { afterEach, expect, test } from "@jest/globals";
import type { Habits } from "../profile/profile.ts";
import type { Client } from "./options.ts";
import { serve, session, type Server } from "./testing/server.ts";

let server: Server;
afterEach(() => server.close());

/** Requests beside the login, as path and body. */
const sent = (): [string, unknown][] =>
  server.seen.filter(({ endpoint }) => endpoint !== "login").map(({ path, body }) => [path, body]);

const answers = ({ endpoint, path }: { endpoint: string | undefined; path: string }): unknown => {
  if (endpoint === "login") return session;
  if (endpoint === "userid") return { body: { userID: "ada" } };
  if (endpoint === "createappwithprompt") return "https://apps.example.com/workspace/apps/a1";
  if (endpoint === "microappdata") return { body: { microAppRows: [] } };
  return path.includes("list") ? { body: { childItems: [] } } : { status: "success", body: { teamMembers: [] } };
};

const calls: [string, Partial<Habits>, (client: Client) => Promise<unknown>, [string, unknown][]][] = [
  [
    "userid by post",
    { userLookupBy: "post" },
    (client) => client.userid({ email: "ada@example.com" }),
    [["/api/userid", { email: "ada@example.com" }]],
  ],
  [
    "paging in texts",
    { skipForm: "text" },
    (client) => client.microappdata({ microAppID: "t", searchFilter: [{ resourceID: "t", skip: 0, limit: 10 }] }),
    [["/api/microappdata", { microAppID: "t", searchFilter: [{ resourceID: "t", skip: "0", limit: "10" }] }]],
  ],
  [
    "lists of one team each",
    { teamParameter: "teamID" },
    (client) => client.teammembers({ teamIDs: ["a", "b"] }),
    [
      ["/api/teammembers", { teamID: "a" }],
      ["/api/teammembers", { teamID: "b" }],
    ],
  ],
  [
    "invitations to one team each",
    { teamParameter: "teamID" },
    (client) => client.insertteammembers({ teamIDs: ["a", "b"], userIDs: ["u"] }),
    [
      ["/api/insertteammembers", { teamID: "a", userIDs: ["u"] }],
      ["/api/insertteammembers", { teamID: "b", userIDs: ["u"] }],
    ],
  ],
];

test.each(calls)("a profile decides how it is sent: %s", async (_, habits, call, expected) => {
  server = await serve(answers);
  await call(server.client({ profile: { habits } }));
  expect(sent()).toEqual(expected);
});

test("child records are listed by query and body, and an app is asked for with its attachments", async () => {
  server = await serve(answers);
  const client = server.client({ apiKey: "key-of-the-operator" });
  await client.microappchildList({ appID: "r", fieldID: "f" });
  await client.createappwithprompt({ userEmail: "ada@example.com", appPrompt: "x" });
  expect(sent()).toEqual([
    ["/api/microappchild/list?appID=r&fieldID=f", { appID: "r", fieldID: "f" }],
    ["/api/createappwithprompt", { userEmail: "ada@example.com", appPrompt: "x", attachments: [] }],
  ]);
});

test("names of a profile count where the options name none", async () => {
  server = await serve((seen) => (seen.endpoint === "login" ? session : { signedUrl: "x", url: "x" }));
  const profile = { wireNames: { storecopy: "theirs", uploadFileToStore: "alsoTheirs" } };
  const client = server.client({ profile, wireNames: { uploadFileToStore: "ours" } });
  await client.microappchildStorecopy({ sourceResourceID: "a", destinationResourceID: "b", fileKey: "c" });
  await client.microappchildUploadFileToStore({ resourceID: "a", fieldID: "b", url: "c" });
  expect(sent().map(([path]) => path)).toEqual(["/api/microappchild/theirs", "/api/microappchild/ours"]);
});
