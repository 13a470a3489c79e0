import { expect, test } from "@jest/globals";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { seed } from "../platform.ts";
import { countries, everything, views } from "./contents.ts";
import { inBrowser } from "./page.ts";

const rowsOf = (count: number) => (admin: { call: (name: "insertmicroapprows", body: object) => Promise<unknown> }) =>
  admin.call("insertmicroapprows", { microAppID: "countries", rows: countries(count) });

test("each view is reached through the navigation, which says where one is", () =>
  inBrowser(
    async ({ page, view }) => {
      const navigation = page.getByRole("navigation", { name: "Views" });
      expect(await navigation.getByRole("link").allTextContents()).toEqual(views);
      for (const name of views) {
        await view(name);
        expect(await navigation.locator("[aria-current=page]").allTextContents()).toEqual([name]);
        expect(await page.title()).toBe(`${name.toLowerCase()} – Emulator`);
        expect(await page.getByRole("status").textContent()).toBe("");
        expect(await page.getByRole("main").getByRole("heading").count()).toBeGreaterThan(0);
      }
      await page.goBack();
      await page.getByRole("heading", { level: 2, name: "Faults" }).waitFor();
    },
    { fill: (admin, emulator) => everything(admin, emulator) },
  ));

test("tables: pages, a filter, an order, another table", () =>
  inBrowser(
    async ({ page, view }) => {
      await view("Tables");
      await page.getByRole("link", { name: "Countries" }).click();
      const codes = () => page.locator("main tbody tr td:nth-child(2)").allTextContents();
      const caption = (text: string) => page.locator("main caption", { hasText: new RegExp(`^${text}$`) }).waitFor();
      await caption("Rows 1 to 50");
      expect((await codes()).slice(0, 2)).toEqual(["C000", "C001"]);
      expect(await page.getByRole("button", { name: "Previous page" }).isDisabled()).toBe(true);
      const next = page.getByRole("button", { name: "Next page" });
      await next.click();
      await caption("Rows 51 to 100");
      await next.click();
      await caption("Rows 101 to 120");
      expect([(await codes())[0], await next.isDisabled()]).toEqual(["C100", true]);
      await page.getByRole("button", { name: "Previous page" }).click();
      await caption("Rows 51 to 100");

      const show = page.getByRole("button", { name: "Show" });
      await page.getByLabel("Field").selectOption("Name");
      await page.getByLabel("Value").fill("country 11");
      await show.click();
      await caption("Rows 1 to 11");
      await page.getByLabel("Field").selectOption("Population");
      await page.getByLabel("Condition").selectOption("at least");
      await page.getByLabel("Value").fill("118");
      await page.getByLabel("Order by").selectOption("Population");
      await show.click();
      await caption("Rows 1 to 3");
      expect(await codes()).toEqual(["C002", "C001", "C000"]);
      await page.getByLabel("Direction").selectOption({ label: "descending" });
      await show.click();
      await page.locator("main tbody tr:first-child td:nth-child(2)", { hasText: "C000" }).waitFor();
      await page.getByLabel("Field").selectOption("Name");
      await page.getByLabel("Condition").selectOption("is empty");
      await show.click();
      await caption("No rows");
      await page.getByText("all", { exact: true }).first().waitFor({ state: "detached" });

      await page.getByRole("link", { name: "Cities" }).click();
      await page.getByText("cities, rows of countries").waitFor();
      await caption("No rows");
    },
    { fill: rowsOf(120) },
  ));

test("a row that somebody inserts appears by itself, and can be seen whole", () =>
  inBrowser(async ({ page, admin }) => {
    await page.getByRole("link", { name: "Countries" }).click();
    await page.getByRole("heading", { level: 3, name: "Countries" }).waitFor();
    await admin.get("rowID", "insertmicroapprow", { microAppID: "countries", rowData: { Code: "CZ", Population: 10 } });
    await page.getByRole("cell", { name: "CZ", exact: true }).waitFor();
    await page.getByText("all", { exact: true }).click();
    await page.getByText('"microAppID"').or(page.getByText('"Code": "CZ"')).first().waitFor();
  }));

test("organizations show teams, members with their roles, and everyone with an account", () =>
  inBrowser(
    async ({ page, view, admin }) => {
      await view("Organizations");
      await page.getByRole("heading", { level: 3, name: "Acme plain" }).waitFor();
      const crew = page.locator("details", { hasText: "Crew plain" });
      expect(await crew.locator("summary").textContent()).toBe("Crew plain (3)");
      expect((await crew.getByRole("listitem").allTextContents()).toSorted()).toEqual([
        "ada@example.com, member",
        "admin@example.com, admin",
        "new@example.com, member",
      ]);
      expect(await page.locator("summary", { hasText: "All Members" }).count()).toBe(1);
      const standing = (email: string) =>
        page.getByRole("row").filter({ hasText: email }).getByRole("cell").last().textContent();
      expect(await standing("admin@example.com")).toBe("administrator");
      expect(await standing("ada@example.com")).toBe("user");
      expect(await standing("new@example.com")).toBe("invited");
      // What is folded stays folded when the tree is drawn anew.
      await page.locator("summary", { hasText: "All Members" }).click();
      await admin.get("", "insertteam", { teamInfo: { organizationID: "acme", name: "Late" } });
      await page.locator("summary", { hasText: "Late (1)" }).waitFor();
      expect(await page.locator("details", { hasText: "All Members" }).getAttribute("open")).toBeNull();
    },
    { fill: (admin, emulator) => everything(admin, emulator) },
  ));

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
      await page.getByRole("table", { name: "Records on rows" }).waitFor();
    },
    {
      options: { settings: { allowedHosts: [host] } },
      fill: (admin) => admin.get("", "microappchildUploadFileToStore", upload),
    },
  );
  server.close();
});

test("inboxes show unread and push messages; apps get ready before one's eyes", () =>
  inBrowser(
    async ({ page, view, emulator }) => {
      await view("Inboxes");
      for (const name of ["Unread in the apps", "Sent to devices"]) {
        const row = page.getByRole("table", { name }).getByRole("row").nth(1);
        expect((await row.getByRole("cell").allTextContents()).slice(1, 4)).toEqual(["ada@example.com", "plain", "4"]);
      }
      await view("Apps");
      const status = page.locator("main tbody tr td:nth-child(2)");
      expect(await status.textContent()).not.toBe("completed");
      emulator.advance(3_600_000);
      await status.filter({ hasText: "completed" }).waitFor();
    },
    { options: { settings: { generationSeconds: 600 } }, fill: (admin, emulator) => everything(admin, emulator) },
  ));

test("the call log is live, and shows changes or failures alone", () =>
  inBrowser(async ({ page, view, admin }) => {
    await view("Calls");
    await admin.call("readteam", { teamID: "nowhere" });
    await admin.call("insertmicroapprow", { microAppID: "countries", rowData: { Code: "CZ" } });
    const endpoints = () => page.locator("main tbody tr td:nth-child(3)").allTextContents();
    await page.getByRole("cell", { name: "insertmicroapprow" }).waitFor();
    expect((await endpoints()).slice(0, 3)).toEqual(["insertmicroapprow", "readteam", "login"]);
    await page.getByLabel("Show").selectOption({ label: "failures" });
    expect(await endpoints()).toEqual(["readteam"]);
    expect(await page.locator("td.bad").textContent()).toBe("404");
    await page.getByLabel("Show").selectOption({ label: "those that change something" });
    expect((await endpoints())[0]).toBe("insertmicroapprow");
    await admin.call("readteam", { teamID: "nowhere" });
    await admin.call("insertmicroapprow", { microAppID: "countries", rowData: { Code: "SK" } });
    await page.getByText('"SK"').waitFor({ state: "attached" });
    expect((await endpoints()).slice(0, 2)).toEqual(["insertmicroapprow", "insertmicroapprow"]);
  }));

test("a fault is clicked together, hits, and goes", () =>
  inBrowser(async ({ page, view, admin, emulator }) => {
    await view("Faults");
    await page.getByLabel("Kind").selectOption("status");
    await page.getByLabel("Endpoint").selectOption("readteam");
    await page.getByLabel("Status", { exact: true }).fill("503");
    await page.getByLabel("Calls that are hit").fill("1");
    await page.getByRole("button", { name: "Add fault" }).click();
    await page.getByRole("status").filter({ hasText: "The fault is played from now on" }).waitFor();
    expect(emulator.faults()).toMatchObject([{ kind: "status", status: 503, endpoint: "readteam", count: 1, hit: 0 }]);
    expect((await admin.call("readteam", { teamID: "none" })).status).toBe(503);
    expect((await admin.call("readteam", { teamID: "none" })).status).toBe(404);
    await page.locator("main tbody tr td:nth-child(3)", { hasText: /^1$/ }).waitFor();
    const remove = page.getByRole("button", { name: "Remove all faults" });
    await remove.click();
    await page.getByRole("status").filter({ hasText: "All goes well again" }).waitFor();
    expect([emulator.faults(), await remove.isDisabled()]).toEqual([[], true]);
  }));

test("snapshots are saved, compared, loaded and deleted; the platform goes back to its beginning", () =>
  inBrowser(async ({ page, view, admin, emulator }) => {
    const said = (text: string) => page.getByRole("status").filter({ hasText: text }).waitFor();
    const codes = async () =>
      ((await admin.get("body.microAppRows", "microappdata", { microAppID: "countries" })) as { Code: string }[]).map(
        ({ Code }) => Code,
      );
    await view("Snapshots");
    await page.getByLabel("Name", { exact: true }).fill("one");
    await page.getByRole("button", { name: "Save snapshot" }).click();
    await said("Saved one");
    expect(emulator.snapshots()).toEqual(["one"]);
    await admin.get("rowID", "insertmicroapprow", { microAppID: "countries", rowData: { Code: "CZ" } });
    await page.getByRole("button", { name: "Compare with now" }).click();
    await page.getByRole("table", { name: "Changed since one" }).waitFor();
    await page.getByRole("button", { name: "Load", exact: true }).click();
    await said("Loaded one");
    expect(await codes()).toEqual([]);
    await page.getByRole("button", { name: "Delete" }).click();
    await said("Deleted one");
    expect(emulator.snapshots()).toEqual([]);

    await page.getByLabel("Seconds").fill("90");
    await page.getByRole("button", { name: "Put forward" }).click();
    await said("The clock was put forward");
    await admin.get("rowID", "insertmicroapprow", { microAppID: "countries", rowData: { Code: "SK" } });
    page.once("dialog", (dialog) => void dialog.dismiss());
    await page.getByRole("button", { name: "Reset to the seed" }).click();
    expect(await codes()).toEqual(["SK"]);
    page.once("dialog", (dialog) => void dialog.accept());
    await page.getByRole("button", { name: "Reset to nothing" }).click();
    await said("The platform is back at its beginning");
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
    await stranger?.getByText("which the emulator printed when it started").waitFor();
    expect(await stranger?.locator("main").textContent()).toBe("");
    await stranger?.goto(emulator.console);
    await stranger?.getByRole("link", { name: "Countries" }).waitFor();
    await stranger?.close();
  }));

test("each tenant has a console of its own", () =>
  inBrowser(
    async ({ page, emulator }) => {
      await page.goto(`${emulator.tenant("other").url}/`);
      await page.getByRole("link", { name: "Countries" }).click();
      await page.locator("caption", { hasText: "No rows" }).waitFor();
      await page.goto(`${emulator.url}/`);
      await page.getByRole("link", { name: "Countries" }).click();
      await page.locator("caption", { hasText: "Rows 1 to 3" }).waitFor();
    },
    { options: { tenants: { other: { seed } } }, fill: rowsOf(3) },
  ));
