import { expect } from "@jest/globals";
import { endpoints } from "../../provider/contract/endpoints.ts";
import { newRow, prove, rowsOf } from "../testing/proofs.ts";

prove("common", {
  "readteam: post": async ({ admin, emulator }) => {
    await admin.refused("readteam", { teamID: "none" });
    for (const [name, { path }] of Object.entries(endpoints)) {
      const allowed = ["userid", "microappchildList"].includes(name) ? ["GET", "POST"] : ["POST"];
      for (const method of ["GET", "POST", "PUT", "DELETE"]) {
        const { status } = await fetch(`${emulator.url}${path}`, { method });
        expect([name, method, status !== 405]).toEqual([name, method, allowed.includes(method)]);
      }
    }
    const { authToken, userId } = await admin.call("login", { email: "ada@example.com", password: "ada" });
    const headers = { "x-auth-token": authToken, "x-user-id": userId, "content-type": "text/plain" };
    const sent = { method: "POST", headers, body: JSON.stringify({ teamID: "none" }) };
    expect((await fetch(`${emulator.url}/api/readteam`, sent)).status).toBe(400);
  },
  "readteam: IDs": async ({ admin }) => {
    const { organizationID } = await admin.call("insertorganization", { organizationInfo: { name: "Acme" } });
    await admin.call("insertteam", { teamInfo: { organizationID, name: "Crew" } });
    expect(await admin.refused("readteam", { teamID: "Crew" })).toMatchObject({ code: "notFound" });
    expect(await admin.refused("readorganization", { organizationID: "Acme" })).toMatchObject({ code: "notFound" });
    expect(await admin.refused("microappdata", { microAppID: "Countries" })).toMatchObject({ code: "notFound" });
  },
  "microappdata: numbers": async (stage) => {
    for (const Code of ["CZ", "AT", "CH"]) await newRow(stage, { Code });
    const page = (skip: number | string, limit: number | string) =>
      rowsOf(stage, { searchFilter: [{ field: "1", order: 1, skip, limit }] });
    expect(await page(1, 1)).toMatchObject([{ Code: "CH" }]);
    expect(await page("1", "1")).toEqual(await page(1, 1));
  },
  "createappwithprompt: key and token": async ({ admin, enter }) => {
    const request = { userEmail: "ada@example.com", appPrompt: "Count sheep" };
    await admin.call("createappwithprompt", request);
    const wrong = enter({ email: "ada@example.com", password: "ada", apiKey: "other" });
    expect(await wrong.refused("createappwithprompt", request)).toMatchObject({ code: "unauthorized" });
  },
});
