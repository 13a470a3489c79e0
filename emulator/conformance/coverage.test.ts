import { expect, test } from "@jest/globals";
import { createClient } from "../../platform/client/index.ts";
import { endpoints, type EndpointName } from "../../platform/contract/endpoints.ts";
import { allMembers } from "../../platform/contract/people.ts";
import { handlerOf } from "../endpoints/handlers.ts";
import { openapi } from "../http/openapi.ts";
import { signIn, start } from "../testing/platform.ts";

test.each(Object.keys(endpoints) as EndpointName[])(
  "%s has a client method, a handler, and a place in the document",
  (name) => {
    const { path, method } = endpoints[name];
    const client = createClient({ endpoint: "http://127.0.0.1:1" });
    expect(typeof client[name]).toBe("function");
    expect(typeof handlerOf(name)).toBe("function");
    expect(openapi("http://here")).toHaveProperty(["paths", path, method.toLowerCase(), "operationId"], name);
  },
);

test("endpoints take POST and nothing else, unless they say so", async () => {
  const { url } = await start();
  for (const [name, { path }] of Object.entries(endpoints)) {
    const allowed = ["userid", "microappchildList"].includes(name) ? ["GET", "POST"] : ["POST"];
    for (const method of ["GET", "POST", "PUT", "DELETE"]) {
      const { status } = await fetch(`${url}${path}`, { method });
      expect([name, method, status !== 405]).toEqual([name, method, allowed.includes(method)]);
    }
  }
});

test("a new organization has a team of all members, which stays", async () => {
  const emulator = await start();
  const admin = await signIn(emulator.url);
  emulator.saveSnapshot("before");
  await admin.get("result._id", "insertorganization", { organizationInfo: { name: "Acme" } });
  const [teamID = ""] = emulator.differences("before").find(({ table }) => table === "teams")?.added ?? [];
  expect(await admin.get("body.name", "readteam", { teamID })).toBe(allMembers);
  expect((await admin.call("deleteteam", { teamID })).status).toBe(409);
});
