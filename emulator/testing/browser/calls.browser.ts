import { expect, test } from "@jest/globals";
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { createClient } from "../../../provider/client/index.ts";
import { testInLong } from "../../../testing/harness/drawn.ts";
import { post, signIn } from "../platform.ts";
import { everything } from "./contents.ts";
import { inBrowser, type Opened } from "./page.ts";

const endpoints = ({ page }: Opened) => page.locator("main .endpoint code").allTextContents();
const runs = ({ page }: Opened) => page.locator("main .run h2").allTextContents();

test("the call log is live, and shows changes, failures or what is searched alone", () =>
  inBrowser(async (opened) => {
    const { page, view, admin } = opened;
    await view("Calls");
    await admin.call("readteam", { teamID: "nowhere" });
    await admin.call("insertmicroapprow", { microAppID: "countries", rowData: { Code: "CZ" } });
    await page.locator(".endpoint", { hasText: "insertmicroapprow" }).waitFor();
    expect(await endpoints(opened)).toEqual(["insertmicroapprow", "readteam", "login"]);
    await page.getByLabel("Show").selectOption("failures");
    expect(await endpoints(opened)).toEqual(["readteam"]);
    expect(await page.locator("main .pill.bad").allTextContents()).toEqual(["1 failed", "404"]);
    await page.getByText("Team not found: nowhere", { exact: true }).waitFor();
    await page.getByLabel("Show").selectOption("changes");
    expect(await endpoints(opened)).toEqual(["insertmicroapprow"]);
    await admin.call("readteam", { teamID: "nowhere" });
    await admin.call("insertmicroapprow", { microAppID: "countries", rowData: { Code: "SK" } });
    await page.getByText('"SK"').waitFor({ state: "attached" });
    expect(await endpoints(opened)).toEqual(["insertmicroapprow", "insertmicroapprow"]);
    await page.getByText("2 of 5 calls").waitFor();
    await page.getByLabel("Search", { exact: true }).fill("Sk");
    await page.getByText("1 of 5 calls").waitFor();
    await page.getByLabel("Search", { exact: true }).fill("nothing like it");
    await page.getByText("No call fits").waitFor();
  }));

testInLong("calls are grouped by run, under the address of who called", () => {
  let now = Date.parse("2026-03-02T09:00:00Z");
  return inBrowser(
    async (opened) => {
      const { page, view, admin, emulator } = opened;
      await admin.call("readteam", { teamID: "one" });
      const ada = await signIn(emulator.url, "ada@example.com", "ada");
      await admin.call("readteam", { teamID: "two" }); // while the other's run is under way
      await ada.call("readteam", { teamID: "three" });
      now += 61_000;
      await ada.call("logout", { authToken: ada.token, userId: ada.userID }); // a new run: nothing for a minute
      await post(`${emulator.url}/api/login`, JSON.stringify({ email: "eve@example.com", password: "no" }));
      await view("Calls");
      expect(await runs(opened)).toEqual([
        "eve@example.com",
        "ada@example.com",
        "ada@example.com",
        "admin@example.com",
      ]);
      const calls = (run: number) => page.locator("main .run").nth(run).locator(".endpoint code").allTextContents();
      expect(await calls(1)).toEqual(["logout"]);
      expect(await calls(2)).toEqual(["readteam", "login"]);
      expect(await calls(3)).toEqual(["readteam", "readteam", "login"]);
      await page.getByText(/^2026-03-02 09:00:00 UTC · 3 calls in \d/).waitFor();
      for (const took of await page.locator("main .took").allTextContents()) expect(took).toMatch(/^[\d.]+ m?s$/);
    },
    { options: { now: () => now } },
  );
});

testInLong("a fault that was played, and a call's parameters, stand with the call", () =>
  inBrowser(async (opened) => {
    const { page, view, admin, emulator } = opened;
    emulator.setFaults({ faults: [{ kind: "status", status: 503, endpoint: "readteam" }] });
    await admin.call("readteam", { teamID: "crew" });
    await view("Calls");
    await page.locator(".endpoint", { hasText: "fault: status 503" }).click();
    await page.locator("pre", { hasText: '"teamID": "crew"' }).waitFor();
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const copied = async (name: string) => {
      await page.locator("details[open]").getByRole("button", { name }).click();
      await page.getByText(/^Copied the/).waitFor();
      return page.evaluate<string>("navigator.clipboard.readText()");
    };
    expect(await copied("Copy as client code")).toBe('await client.readteam({"teamID":"crew"});');
    expect(await copied("Copy as curl")).toContain(`curl '${emulator.url}/api/readteam' --header "x-auth-token: `);
  }),
);

test("what is copied of each call runs, as a command and as code, and answers as the call did", () =>
  inBrowser(async (opened) => {
    const { page, view, admin, emulator } = opened;
    await everything(admin, emulator, `it's "so" $HOME \`id\` \\`);
    emulator.setFaults();
    await admin.get("body.userID", "userid", { email: "ada@example.com" });
    await view("Calls");
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    const copies: Record<"endpoint" | "command" | "code", string>[] = [];
    for (const entry of await page.locator("main details.call").all()) {
      await entry.locator("> summary").click();
      const copied = async (name: string) => {
        await entry.getByRole("button", { name }).click();
        await page.getByText(/^Copied the/).waitFor();
        return page.evaluate<string>("navigator.clipboard.readText()");
      };
      const endpoint = await entry.locator(".endpoint code").innerText();
      copies.push({
        endpoint,
        command: await copied("Copy as curl"),
        code: await copied("Copy as client code"),
      });
    }
    const { apiKey, ...account } = { email: "admin@example.com", password: "admin", apiKey: "dev-key" };
    const client = createClient({ endpoint: emulator.url, ...account, apiKey, retries: { attempts: 1 } });
    const env = {
      ...process.env,
      ...{ MICROAPPS_TOKEN: admin.token, MICROAPPS_USER_ID: admin.userID, MICROAPPS_API_KEY: apiKey },
      ...{ MICROAPPS_EMAIL: account.email, MICROAPPS_PASSWORD: account.password },
    };
    const seen: Record<string, unknown> = {};
    const write = "--silent --output /dev/null --write-out '%{http_code}'";
    for (const { endpoint, command, code } of copies) {
      const { stdout } = await promisify(execFile)("sh", ["-c", `${command} ${write}`], { env });
      // oxlint-disable-next-line typescript/no-implied-eval -- code that is copied is there to be run
      const run = new Function("client", "process", `return (async () => { ${code} })()`) as (
        ...given: unknown[]
      ) => Promise<unknown>;
      const ended = run(client, { env }).then(
        () => 200,
        (error: unknown) => (error as { status?: number }).status,
      );
      seen[endpoint] = [Number(stdout), await ended];
    }
    await client.close();
    const [works, conflict] = [
      [200, 200],
      [409, 409],
    ];
    expect(seen).toEqual({
      ...{ userid: works, readteam: [404, 404], microappchildCreate: works, sendnotification: works },
      ...{ createappwithprompt: works, insertteammembers: works, insertteam: conflict, insertorganization: conflict },
      ...{ microappdata: works, insertmicroapprows: works, login: works },
    });
    const shown = copies.map(({ command, code }) => command + code).join("");
    for (const secret of [admin.token, apiKey, "***"]) expect(shown).not.toContain(secret);
  }));
