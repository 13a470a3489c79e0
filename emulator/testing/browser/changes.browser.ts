import { expect, test } from "@jest/globals";
import { testInLong } from "../../../testing/harness/drawn.ts";
import { everything } from "./contents.ts";
import { inBrowser, type Opened } from "./page.ts";

const press = ({ page }: Opened, name: string) =>
  page.getByRole("dialog").getByRole("button", { name, exact: true }).click();
const shownCall = ({ page }: Opened) => page.getByRole("dialog").locator("pre").innerText();

test("a row is inserted, edited, locked and deleted; the call stands below the form, and in the log", () =>
  inBrowser(async (opened) => {
    const { page, open, emulator, noticed } = opened;
    await open("Countries");
    await page.getByRole("button", { name: "New row" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Code").fill("CZ");
    await dialog.getByLabel("Population").fill("many");
    expect(await shownCall(opened)).toBe("Population must be a number");
    expect(await dialog.getByRole("button", { name: "Insert" }).isDisabled()).toBe(true);
    await dialog.getByLabel("Population").fill("10");
    expect(await shownCall(opened)).toBe(
      'await client.insertmicroapprow({"microAppID":"countries","rowData":{"Code":"CZ","Population":10}});',
    );
    await press(opened, "Insert");
    await noticed("Inserted the row");
    const code = page.getByRole("cell", { name: "CZ", exact: true });
    await code.waitFor();

    await page.getByRole("button", { name: "Open" }).click();
    await press(opened, "Edit");
    expect(await shownCall(opened)).toBe("Nothing is changed yet.");
    await dialog.getByLabel("Population").fill("");
    expect(await shownCall(opened)).toContain('"rowData":{"Population":null}');
    await press(opened, "Save");
    await noticed("Saved the row");

    await page.getByRole("button", { name: "Open" }).click();
    await press(opened, "Lock");
    await noticed("Marked the row");
    await page.getByRole("button", { name: "Open" }).click();
    await dialog.getByRole("button", { name: "Unlock" }).waitFor();
    await press(opened, "Delete");
    await press(opened, "Cancel");
    await code.waitFor();
    emulator.setFaults({ faults: [{ kind: "status", status: 503, endpoint: "removemicroapprow", count: 1 }] });
    await page.getByRole("button", { name: "Open" }).click();
    await press(opened, "Delete");
    await press(opened, "Delete");
    await dialog.getByRole("alert").filter({ hasText: "This failure was asked for" }).waitFor();
    await press(opened, "Delete");
    await noticed("Deleted the row");
    await code.waitFor({ state: "detached" });
    const calls = emulator.calls({ mutating: true }).map(({ endpoint, status }) => [endpoint, status]);
    expect(calls).toEqual([
      ["insertmicroapprow", 200],
      ["updatemicroapprow", 200],
      ["removemicroapprow", 503],
      ["removemicroapprow", 200],
    ]);
  }));

test("organizations, teams and members are made, changed and removed by the interface's own calls", () =>
  inBrowser(
    async (opened) => {
      const { page, view, emulator } = opened;
      const button = (name: string) => page.getByRole("main").getByRole("button", { name, exact: true }).first();
      const fill = (label: string, text: string) => page.getByRole("dialog").getByLabel(label).fill(text);
      const main = page.getByRole("main");
      await view("Organizations");
      await button("New organization").click();
      await fill("Name", "Bolt");
      await press(opened, "Create");
      await main.getByRole("link", { name: "Bolt" }).click();
      await button("New team").click();
      await fill("Name", "Riders");
      await press(opened, "Create");
      await main.getByRole("link", { name: "Riders" }).click();
      await button("Add members").click();
      await fill("E-mail addresses", "ada@example.com, eve@example.com");
      await press(opened, "Add");
      await main.getByRole("link", { name: "eve@example.com" }).waitFor();
      const eve = page.getByRole("row").filter({ hasText: "eve@example.com" });
      await eve.getByRole("button", { name: "Role" }).click();
      await page.getByRole("dialog").getByLabel("Role").selectOption("admin");
      await press(opened, "Save");
      await eve.getByText("admin", { exact: true }).waitFor();
      await eve.getByRole("button", { name: "Remove" }).click();
      await press(opened, "Remove");
      await eve.waitFor({ state: "detached" });
      await button("Delete").click();
      await press(opened, "Delete");
      await page.getByRole("dialog").getByRole("alert").filter({ hasText: "member" }).waitFor();
      await press(opened, "Cancel");
      for (const email of ["ada@example.com", "admin@example.com"]) {
        const member = page.getByRole("row").filter({ hasText: email });
        await member.getByRole("button", { name: "Remove" }).click();
        await press(opened, "Remove");
        await member.waitFor({ state: "detached" });
      }
      await main.getByText("The team has no members").waitFor();
      await button("Edit").click();
      await fill("Description", "who ride");
      await press(opened, "Save");
      await main.getByText("who ride").waitFor();
      const calls = emulator.calls({ mutating: true }).filter(({ userID }) => userID !== null);
      expect(calls.slice(-9).map(({ endpoint }) => endpoint)).toEqual([
        "insertorganization",
        "insertteam",
        "insertteammembers",
        "updateteammember",
        "deleteteammember",
        "deleteteam",
        "deleteteammember",
        "deleteteammember",
        "updateteam",
      ]);
      await button("Delete").click();
      await press(opened, "Delete");
      await page.getByRole("heading", { level: 1, name: "Bolt" }).waitFor();
      await button("Delete").click();
      await press(opened, "Delete");
      await page.getByRole("heading", { level: 1, name: "Organizations" }).waitFor();
      await main.getByRole("link", { name: "Bolt" }).waitFor({ state: "detached" });
    },
    { fill: (admin, emulator) => everything(admin, emulator) },
  ));

testInLong("a call shows what it changed, its answer and its headers, without the token", () =>
  inBrowser(async ({ page, view, admin }) => {
    await admin.call("insertmicroapprow", { microAppID: "countries", rowData: { Code: "CZ" } });
    await view("Calls");
    const call = page.locator("details.call").filter({ hasText: "insertmicroapprow" });
    await call.locator("summary").first().click();
    await call.getByText(/^Changed: 1 row in Countries/).waitFor();
    await call.locator("pre", { hasText: '"status": "success"' }).waitFor();
    await call.getByText("Headers of admin@example.com").click();
    const headers = await call.locator(".headers pre").innerText();
    expect(JSON.parse(headers)).toMatchObject({ "x-auth-token": "***", "content-type": "application/json" });
    expect(headers).not.toContain(admin.token);
  }),
);

testInLong("a text of several lines is edited as it is, and no line break makes a change", () =>
  inBrowser(
    async (opened) => {
      const { page, open, emulator, noticed } = opened;
      await open("Countries");
      await page.getByRole("button", { name: "Open" }).click();
      await press(opened, "Edit");
      const dialog = page.getByRole("dialog");
      expect(await shownCall(opened)).toBe("Nothing is changed yet.");
      await dialog.getByLabel("Population").fill("2");
      expect(await shownCall(opened)).toContain('"rowData":{"Population":2}}');
      await dialog.getByLabel("Name").fill("one\ntwo\nthree");
      await press(opened, "Save");
      await noticed("Saved the row");
      expect(emulator.calls({ mutating: true }).at(-1)?.request).toMatchObject({
        rowData: { Name: "one\ntwo\nthree", Population: 2 },
      });
    },
    {
      fill: (admin) =>
        admin.get("", "insertmicroapprow", {
          microAppID: "countries",
          rowData: { Code: "CZ\n1", Name: "one\r\ntwo", Population: 1 },
        }),
    },
  ),
);
