import { expect, test } from "@jest/globals";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { testInLong } from "../../../testing/harness/drawn.ts";
import { seed } from "../platform.ts";
import { countries, everything, views } from "./contents.ts";
import { inBrowser } from "./page.ts";

const rowsOf = (count: number) => (admin: { call: (name: "insertmicroapprows", body: object) => Promise<unknown> }) =>
  admin.call("insertmicroapprows", { microAppID: "countries", rows: countries(count) });

test("each view is reached through the navigation, which shows where one is", () =>
  inBrowser(
    async ({ page, view }) => {
      const navigation = page.getByRole("navigation", { name: "Views" });
      expect(await navigation.getByRole("link").allTextContents()).toEqual(views);
      for (const name of views) {
        await view(name);
        expect(await navigation.locator("[aria-current=page]").allTextContents()).toEqual([name]);
        expect(await page.title()).toBe(`${name} – Emulator`);
        expect(await page.getByRole("status").textContent()).toBe("");
      }
      await page.goBack();
      await page.getByRole("heading", { level: 1, name: "Faults" }).waitFor();
    },
    { fill: (admin, emulator) => everything(admin, emulator) },
  ));

test.each([
  ["#tables/none", "There is no such table", "All tables"],
  ["#organizations/none", "There is no such organization", "All organizations"],
  ["#organizations/acme/none", "There is no such team", "All teams of Acme plain"],
  ["#users/none", "There is no such user", "All users"],
  ["#none", "There is no such page", "All tables"],
])("the address %s leads to nothing, and the page tells so", (hash, heading, way) =>
  inBrowser(
    async ({ page, emulator }) => {
      await page.goto(`${emulator.url}/${hash}`);
      await page.getByRole("heading", { level: 1, name: heading }).waitFor();
      expect(await page.locator("main q").textContent()).toBe("none");
      await page.getByRole("link", { name: way }).click();
      await page.getByRole("heading", { level: 1, name: /^(Tables|Organizations|Users|Acme plain)$/ }).waitFor();
    },
    { fill: (admin, emulator) => everything(admin, emulator) },
  ),
);

test("stored files are listed and open", async () => {
  const server = createServer((_request, response) => response.end("a flag")).listen(0, "127.0.0.1");
  await once(server, "listening");
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on a port
  const upload = { resourceID: "countries", fieldID: "flag", url: `http://${host}/cz.txt` };
  await inBrowser(
    async ({ page, view }) => {
      await view("Files");
      const downloaded = page.waitForEvent("download");
      await page.getByRole("link", { name: "cz.txt" }).click();
      const chunks = await (await (await downloaded).createReadStream()).toArray();
      expect(Buffer.concat(chunks as Buffer[]).toString()).toBe("a flag"); // a file's stream gives buffers
      await page.getByRole("cell", { name: "6 B" }).waitFor();
      await page.getByRole("table", { name: "0 records on rows" }).waitFor();
    },
    {
      options: { settings: { allowedHosts: [host] } },
      fill: (admin) => admin.get("", "microappchildUploadFileToStore", upload),
    },
  );
  server.close();
});

testInLong("inboxes show unread and push messages; apps get ready before one's eyes", () =>
  inBrowser(
    async ({ page, view, emulator }) => {
      await view("Inboxes");
      for (const name of ["1 message in the apps", "1 message to devices"]) {
        const row = page.getByRole("table", { name }).getByRole("row").nth(1);
        const cells = (await row.getByRole("cell").allInnerTexts()).slice(0, 4);
        expect(cells).toEqual(["ada@example.com", "plain", "4", "admin@example.com"]);
      }
      await view("Apps");
      const status = page.locator("main tbody tr td:nth-child(2)");
      expect(await status.innerText()).not.toBe("completed");
      emulator.advance(3_600_000);
      await status.filter({ hasText: "completed" }).waitFor();
    },
    { options: { settings: { generationSeconds: 600 } }, fill: (admin, emulator) => everything(admin, emulator) },
  ),
);

test("a fault shows the fields of its kind only, hits, and goes", () =>
  inBrowser(async ({ page, view, admin, emulator, noticed, decide }) => {
    await view("Faults");
    const fields = async (kind: string) => {
      await page.getByLabel("Kind").selectOption(kind);
      const inputs = await page.locator("form .toolbar").first().locator("input").all();
      return Promise.all(inputs.map((input) => input.getAttribute("name")));
    };
    const commit = page.getByLabel("Carry the call out first");
    expect([await fields("slow"), await commit.count()]).toEqual([["milliseconds"], 0]);
    expect([await fields("defaultLimit"), await commit.count()]).toEqual([["limit"], 0]);
    expect([await fields("reset"), await commit.count()]).toEqual([[], 1]);
    expect([await fields("status"), await commit.count()]).toEqual([["status", "retryAfter"], 1]);
    await page.getByLabel("Endpoint").selectOption("readteam");
    await page.getByLabel("Status", { exact: true }).fill("503");
    await page.getByLabel("Calls that are hit").fill("1");
    await page.getByRole("button", { name: "Add fault" }).click();
    await noticed("The fault is played from now on");
    expect(emulator.faults()).toEqual([{ kind: "status", status: 503, endpoint: "readteam", count: 1, hit: 0 }]);
    expect((await admin.call("readteam", { teamID: "none" })).status).toBe(503);
    expect((await admin.call("readteam", { teamID: "none" })).status).toBe(404);
    await page.locator("main tbody tr td:nth-child(4)", { hasText: /^\s*1\s*$/ }).waitFor();
    await fields("expiredToken");
    await page.getByRole("button", { name: "Add fault" }).click();
    await page.getByRole("table", { name: "2 faults played" }).waitFor();
    await page.getByRole("button", { name: "Remove fault 1" }).click();
    await page.getByRole("table", { name: "1 fault played" }).waitFor();
    expect(emulator.faults()).toMatchObject([{ kind: "expiredToken", endpoint: "readteam" }]);
    const remove = page.getByRole("button", { name: "Remove all faults" });
    await remove.click();
    await decide("Remove all faults?", "Cancel");
    expect(emulator.faults()).toHaveLength(1);
    await remove.click();
    await decide("Remove all faults?", "Remove all");
    await noticed("All faults are removed");
    expect([emulator.faults(), await remove.isDisabled()]).toEqual([[], true]);
  }));

test("snapshots are saved and compared; what loses something asks first, and the safe answer has the focus", () =>
  inBrowser(async ({ page, view, admin, emulator, noticed, decide }) => {
    const codes = async () =>
      ((await admin.get("body.microAppRows", "microappdata", { microAppID: "countries" })) as { Code: string }[]).map(
        ({ Code }) => Code,
      );
    await view("Snapshots");
    await page.getByLabel("Name", { exact: true }).fill("one");
    await page.getByRole("button", { name: "Save snapshot" }).click();
    await noticed("Saved one");
    expect(emulator.snapshots()).toEqual(["one"]);
    await admin.get("rowID", "insertmicroapprow", { microAppID: "countries", rowData: { Code: "CZ" } });
    await page.getByRole("button", { name: "Compare with now" }).click();
    await page.getByRole("table", { name: "Changed since one" }).waitFor();
    await page.getByRole("button", { name: "Load", exact: true }).click();
    await page.getByRole("dialog", { name: "Load one?" }).waitFor();
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Cancel");
    await page.keyboard.press("Escape");
    expect(await codes()).toEqual(["CZ"]);
    await page.getByRole("button", { name: "Load", exact: true }).click();
    await decide("Load one?", "Load");
    await noticed("Loaded one");
    expect(await codes()).toEqual([]);
    await page.getByRole("button", { name: "Delete" }).click();
    await decide("Delete one?", "Delete");
    await noticed("Deleted one");
    expect(emulator.snapshots()).toEqual([]);

    await page.getByLabel("Seconds").fill("90");
    await page.getByRole("button", { name: "Put forward" }).click();
    await noticed("The clock was put forward");
    await admin.get("rowID", "insertmicroapprow", { microAppID: "countries", rowData: { Code: "SK" } });
    await page.getByRole("button", { name: "Reset to the seed" }).click();
    await decide("Put the platform back to its seed?", "Cancel");
    expect(await codes()).toEqual(["SK"]);
    await page.getByRole("button", { name: "Reset to nothing" }).click();
    await decide("Put the platform back to nothing?", "Reset");
    await noticed("The platform is back at its beginning");
    const dangerous = await page.locator("main button.danger").allTextContents();
    expect(dangerous).toEqual(["Reset to the seed", "Reset to nothing"]);
    await view("Tables");
    await page.getByText("The platform has no tables").waitFor();
  }));

test("without the token of its address it shows nothing but where that stands", () =>
  inBrowser(async ({ page, emulator, view }) => {
    await view("Calls");
    expect(page.url()).toBe(`${emulator.url}/#calls`); // out of sight, and kept
    const browser = page.context().browser();
    const stranger = await browser?.newPage();
    await stranger?.goto(emulator.url);
    await stranger?.getByText("which the emulator printed when it started").first().waitFor();
    expect(await stranger?.getByRole("navigation", { name: "Contents" }).getByRole("link").count()).toBe(0);
    await stranger?.goto(emulator.console);
    await stranger?.getByRole("main").getByRole("link", { name: "Countries" }).waitFor();
    await stranger?.close();
  }));

testInLong("each platform of an emulator has a console of its own", () =>
  inBrowser(
    async ({ page, emulator, open }) => {
      await page.goto(`${emulator.tenant("other").url}/`);
      await open("Countries");
      await page.locator("caption", { hasText: "No rows" }).waitFor();
      await page.goto(`${emulator.url}/`);
      await open("Countries");
      await page.locator("caption", { hasText: "Rows 1–3 of 3" }).waitFor();
    },
    { options: { tenants: { other: { seed } } }, fill: rowsOf(3) },
  ),
);
