import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { endpoints } from "../../../provider/contract/endpoints.ts";
import { readingEndpoints, ReadingCalls } from "./calls.ts";
import { account, Clinic } from "./testing/clinic.ts";

let clinic: Clinic;
beforeAll(async () => (clinic = await Clinic.open({ maximumLimit: 2 })));
afterAll(() => clinic.close());

const { signal } = new AbortController();
const connected = (most: number): ReadingCalls =>
  new ReadingCalls({ url: clinic.emulator.url, settings: { endpoint: clinic.emulator.url, ...account }, most });

test("no endpoint that is called changes anything but the session", () => {
  const others = readingEndpoints.filter((name) => endpoints[name].effect !== "read");
  expect(others).toEqual(["login", "logout"]);
});

test("an endpoint that is not on the list is not called, nor one more call than announced, nor a second login", async () => {
  const calls = connected(2);
  const since = clinic.emulator.lastCall();
  await calls.login(signal);
  await expect(calls.login(signal)).rejects.toThrow("a login was tried already");
  await expect(calls.call("updateteam" as never, { teamID: "team-crew" } as never, signal)).rejects.toThrow(
    "updateteam is not on the list",
  );
  await calls.call("readorganization", { organizationID: clinic.organization }, signal);
  await expect(calls.call("microappdata", { microAppID: "regions" }, signal)).rejects.toThrow("2 calls were made");
  await calls.close();
  const sent = clinic.emulator.calls({ since }).map(({ endpoint }) => endpoint);
  expect(sent).toEqual(["login", "readorganization", "logout"]);
});

test("a session that ends meanwhile is not begun anew", async () => {
  const { findings } = await clinic.look({ faults: [{ kind: "expiredToken", endpoint: "microappdata", count: 1 }] });
  expect(findings.find(({ id }) => id === "table:regions")).toMatchObject({ is: "wrong" });
});

test("a platform of small pages costs no more calls than others", async () => {
  const rows = Array.from({ length: 40 }, (_, index) => ({ Code: `M${index}`, Name: "many" }));
  await clinic.client.insertmicroapprows({ microAppID: "regions", rows });
  const since = clinic.emulator.lastCall();
  const { findings, status } = await clinic.look({});
  expect(status).toBe(0);
  const seen = (id: string): string | undefined => findings.find((each) => each.id === id)?.seen;
  expect(seen("table:regions")).toBe("It has more than 6 rows; those were looked at.");
  expect(seen("key:regions")).toBe("Code tells the rows apart that were looked at. Sort field 1 holds it.");
  expect(seen("pages")).toMatch(/^A page has 2 rows at most\./);
  // Three pages and the start of the next, a raw row, five reads that are compared, and one without a limit.
  expect(clinic.emulator.calls({ since, endpoint: "microappdata" })).toHaveLength(11);
});

test("of many tables the first are looked at", async () => {
  const tables = Array.from({ length: 40 }, (_, index) => `t${index}:Code`);
  const { findings, calls } = await clinic.look({ tables });
  expect(findings.filter(({ id }) => id.startsWith("table:"))).toHaveLength(25);
  expect(findings.find(({ id }) => id === "program")).toMatchObject({ is: "noted" });
  expect(calls.most).toBe(18 + 25 * 5);
});
