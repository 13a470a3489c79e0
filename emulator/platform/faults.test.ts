import { describe, expect, test } from "@jest/globals";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "../../testing/harness/processes.ts";
import { administrate, post, replyOf, seed, signIn, start } from "../testing/platform.ts";
import { faultKinds, type FaultPlan } from "./faults.ts";

type Fault = NonNullable<FaultPlan["faults"]>[number];

async function played(fault: Fault) {
  const emulator = await start();
  const admin = await signIn(emulator.url);
  emulator.setFaults({ faults: [{ endpoint: "insertmicroapprow", count: 1, ...fault }] });
  const insert = () => admin.call("insertmicroapprow", { microAppID: "countries", rowData: { Code: "CZ" } });
  const outcome = await insert().then(
    (reply) => reply.status,
    (error: unknown) => (error instanceof SyntaxError ? "not JSON" : "lost"),
  );
  const rows = async () =>
    ((await admin.get("body.microAppRows", "microappdata", { microAppID: "countries" })) as unknown[]).length;
  return { emulator, admin, insert, outcome, rows };
}

describe("faults", () => {
  test.each<[Fault, unknown, number]>([
    [{ kind: "status" }, 500, 0],
    [{ kind: "status", status: 503, commit: true }, 503, 1],
    [{ kind: "reset" }, "lost", 0],
    [{ kind: "reset", commit: true }, "lost", 1],
    [{ kind: "brokenJSON" }, "not JSON", 1],
    [{ kind: "errorInside" }, 200, 0],
    [{ kind: "errorInside", commit: true }, 200, 1],
    [{ kind: "slow", milliseconds: 1 }, 200, 1],
  ])("%j ends in %j with %d row", async (fault, outcome, stored) => {
    const { emulator, insert, outcome: seen, rows } = await played(fault);
    expect(seen).toBe(outcome);
    expect(await rows()).toBe(stored);
    expect(emulator.calls({ endpoint: "insertmicroapprow" })[0]?.fault).toMatch(fault.kind);
    expect(emulator.faults()[0]?.hit).toBe(1);
    expect((await insert()).status).toBe(200); // it was counted
  });

  test("a failure inside HTTP 200 says so", async () => {
    const emulator = await start({ faults: { faults: [{ kind: "errorInside" }] } });
    const reply = await post(`${emulator.url}/api/login`, JSON.stringify(seed.users[0]));
    expect([reply.status, reply.at("status")]).toEqual([200, "failure"]);
  });

  test("an expired token is refused until the next login", async () => {
    const { emulator, admin, outcome } = await played({ kind: "expiredToken" });
    expect(outcome).toBe(401);
    expect((await admin.call("microappdata", { microAppID: "countries" })).status).toBe(401);
    expect((await (await signIn(emulator.url)).call("microappdata", { microAppID: "countries" })).status).toBe(200);
  });

  test("a call that is never answered ends with the client or the emulator", async () => {
    const emulator = await start();
    const admin = await signIn(emulator.url);
    emulator.setFaults({ faults: [{ kind: "timeout" }] });
    const signal = AbortSignal.timeout(50);
    await expect(fetch(`${emulator.url}/api/login`, { method: "POST", body: "{}", signal })).rejects.toThrow();
    const held = admin.call("logout").catch(() => "lost");
    await eventually("the call", () => emulator.calls({ endpoint: "logout" }).length > 0);
    await emulator.close();
    expect(await held).toBe("lost");
  });

  test("come after some calls", async () => {
    const emulator = await start();
    const admin = await signIn(emulator.url);
    const statuses = async (calls: number) => {
      const seen: number[] = [];
      for (let call = 0; call < calls; call++)
        seen.push((await admin.call("userid", { email: "ada@example.com" })).status);
      return seen;
    };
    emulator.setFaults({ faults: [{ kind: "status", status: 429, retryAfter: 2, after: 2, count: 1 }] });
    expect(await statuses(4)).toEqual([200, 200, 429, 200]);
  });

  test("are described in the README, each of them", () => {
    const readme = readFileSync(join(import.meta.dirname, "../../../emulator/README.md"), "utf8");
    const described = [...(readme.split("## Faults")[1] ?? "").matchAll(/^\| `(\w+)`/gm)].map(([, kind]) => kind);
    expect(described.sort()).toEqual([...faultKinds].sort());
  });

  test("are set over the admin interface", async () => {
    const emulator = await start();
    const { url } = emulator;
    const plan = { faults: [{ kind: "status", status: 429, retryAfter: 3, endpoint: ["login"] }] };
    const put = (body: unknown) => administrate(emulator, "faults", { method: "PUT", body });
    expect((await put(plan)).status).toBe(200);
    const refused = await post(`${url}/api/login`, "{}");
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "3"]);
    const listed = await replyOf(await administrate(emulator, "faults"));
    expect(listed.at("faults")).toEqual([{ ...plan.faults[0], hit: 1 }]);
    for (const bad of [{ faults: [{ kind: "fire" }] }, { faults: [{ kind: "slow", endpoint: "nothing" }] }, []]) {
      expect((await put(bad)).status).toBe(400);
    }
    expect((await administrate(emulator, "faults", { method: "DELETE" })).status).toBe(200);
    await signIn(url);
  });
});
