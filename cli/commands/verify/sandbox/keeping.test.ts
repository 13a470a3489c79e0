import { afterAll, expect, test } from "@jest/globals";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { OutgoingRequest } from "../../../../provider/conformance/platformClient.ts";
import { Journal } from "./journal.ts";
import { RequestGuard, OutsideSandbox } from "./keeping.ts";

const folder = mkdtempSync(join(tmpdir(), "keeping-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** A guard in front of a platform that gives one answer to everything. */
function guardOf(answer: unknown): { send: (request: Partial<OutgoingRequest>) => Promise<unknown>; sent: string[] } {
  const sent: string[] = [];
  const run = { mark: "mv0123456789", platform: "here", tables: {}, startedAt: 0 };
  const kept = new RequestGuard(
    ({ url }) => {
      sent.push(url);
      return Promise.resolve({ status: 200, headers: {}, text: JSON.stringify(answer) });
    },
    {
      ...{ tables: { countries: "table" }, mayMake: { organizations: false, apps: false }, people: [], caller: [] },
      ...{ isMadeUp: () => false, wireNames: {}, hide: () => undefined },
      holdsToken: (text) => text.includes("s3cret"),
      isAllowed: (url) => url.startsWith("https://listed.test/"),
    },
    Journal.begin(folder, run),
  );
  kept.own("our-team");
  return { send: (request) => kept.send({ method: "POST", url: "", headers: {}, ...request }), sent };
}

const asked = (path: string, body: object): Partial<OutgoingRequest> => ({
  url: `/api/${path}`,
  body: JSON.stringify(body),
});

test.each([
  ["a foreign team", asked("teammembers", { teamIDs: ["foreign"] }), false],
  ["ours and a foreign one", asked("teammembers", { teamIDs: ["our-team", "foreign"] }), false],
  ["no team", asked("teammembers", { teamIDs: [] }), false],
  ["our team", asked("teammembers", { teamIDs: ["our-team"] }), true],
  ["our team in a query", { method: "GET", url: "/api/teammembers?teamIDs=%5B%22our-team%22%5D" }, true],
])("what is read of %s is the sandbox's only where it is asked about that", async (_, list, isOurs) => {
  const { send, sent } = guardOf({ body: { teamMembers: [{ teamMemberID: "somebody" }] } });
  await send(list);
  const removal = send(asked("deleteteammember", { teamMemberID: "somebody" }));
  if (isOurs) await removal;
  else await expect(removal).rejects.toThrow(OutsideSandbox);
  expect(sent).toHaveLength(isOurs ? 2 : 1);
});

test.each([
  ["in an address elsewhere", { method: "GET", url: "https://listed.test/?is=s3cret" }, false],
  ["in a query", { method: "GET", url: "/api/userid?email=s3cret" }, false],
  ["in a row", asked("insertmicroapprow", { microAppID: "our-team", rowData: { Name: "s3cret" } }), false],
  ["in a logout", asked("logout", { authToken: "s3cret" }), true],
  ["in the headers of a session", { ...asked("teammembers", {}), headers: { "x-auth-token": "s3cret" } }, true],
])("a token %s is sent only where it belongs", async (_, request, isSent) => {
  const { send, sent } = guardOf({});
  if (isSent) await send(request);
  else await expect(send(request)).rejects.toThrow(OutsideSandbox);
  expect(sent).toHaveLength(isSent ? 1 : 0);
});

test("a file is fetched from where the environment lets calls go", async () => {
  const { send, sent } = guardOf({});
  const from = (host: string): Promise<unknown> => send({ method: "GET", url: `https://${host}/a-file` });
  await from("listed.test");
  await expect(from("elsewhere.test")).rejects.toThrow(
    "it would touch an address that MICROAPPS_ALLOWED_ENDPOINTS does not list",
  );
  expect(sent).toHaveLength(1);
});
