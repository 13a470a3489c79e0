import { expect, test } from "@jest/globals";
import { everything, inBrowser } from "./page.ts";

test("organizations, teams and members are made, changed and removed by the interface's own calls", () =>
  inBrowser(
    async ({ page, open, press, write, noticed, emulator }) => {
      const contents = page.getByRole("navigation", { name: "Contents" });
      const row = (email: string) => page.getByRole("row").filter({ hasText: email });
      const remove = async (email: string) => {
        await row(email).getByRole("button", { name: "Remove" }).click();
        await press("Remove");
        await row(email).waitFor({ state: "detached" });
      };
      await open("#people", "People");
      expect(await row("admin@example.com").getByRole("cell").nth(1).innerText()).toBe("administrator");
      expect(await row("new@example.com").getByRole("cell").nth(1).innerText()).toBe("invited");
      const links = row("ada@example.com").getByRole("link");
      expect(await links.allInnerTexts()).toEqual(["Acme plain: All Members", "Acme plain: Crew plain"]);
      await page.getByLabel("Search").fill("ADA@");
      await row("bob@example.com").waitFor({ state: "detached" });
      await press("New organization");
      await write("Name", "Bolt");
      await press("Save");
      await contents.getByRole("link", { name: "Bolt" }).click();
      await press("New team");
      await write("Name", "Riders");
      await press("Save");
      await contents.getByRole("link", { name: "Riders" }).click();
      await press("Add members");
      await page.getByLabel("E-mail addresses").fill("ada@example.com, eve@example.com");
      await press("Add");
      await page.getByLabel("Role of eve@example.com").selectOption("admin");
      await noticed("Done");
      await remove("eve@example.com");
      await press("Delete");
      await press("Delete");
      await page.getByRole("alert").filter({ hasText: "member" }).waitFor();
      await press("Cancel");
      await remove("ada@example.com");
      await remove("admin@example.com");
      await press("Edit");
      await write("Description", "who ride");
      await press("Save");
      await noticed("who ride");
      for (const above of ["Bolt", "People"]) {
        await press("Delete");
        await press("Delete");
        await page.getByRole("heading", { level: 1, name: above }).waitFor();
      }
      await contents.getByRole("link", { name: "Bolt" }).waitFor({ state: "detached" });
      expect(emulator.calls({ mutating: true }).map(({ endpoint }) => endpoint)).toEqual([
        ...["insertmicroapprows", "insertorganization", "insertteam", "insertteammembers"],
        ...["insertorganization", "insertteam", "insertteammembers", "updateteammember", "deleteteammember"],
        ...["deleteteam", "deleteteammember", "deleteteammember", "updateteam", "deleteteam", "deleteorganization"],
      ]);
    },
    { fill: everything },
  ));

test("calls are shown as they come, with request, answer and headers, and without secrets", () =>
  inBrowser(async ({ page, open, admin, noticed }) => {
    const endpoints = () => page.locator("summary code").allInnerTexts();
    await open("#calls", "Calls");
    await admin.call("readteam", { teamID: "nowhere" });
    await admin.call("insertmicroapprow", { microAppID: "countries", rowData: { Code: "CZ" } });
    await noticed("3 calls");
    expect(await endpoints()).toEqual(["insertmicroapprow", "readteam", "login"]);
    const call = page.locator("details").filter({ hasText: "insertmicroapprow" });
    await call.locator("summary").click();
    await call.getByLabel("Request").filter({ hasText: '"Code": "CZ"' }).waitFor();
    await call.getByLabel("Answer").filter({ hasText: '"status": "success"' }).waitFor();
    const headers = await call.getByLabel("Headers").innerText();
    expect(JSON.parse(headers)).toMatchObject({ "x-auth-token": "***", "content-type": "application/json" });
    const all = await page.content();
    for (const secret of [admin.token, "dev-key", '"admin"']) expect(all).not.toContain(secret);
    await page.getByLabel("Show").selectOption("failures");
    expect(await endpoints()).toEqual(["readteam"]);
    await page.getByText("Team not found: nowhere", { exact: true }).waitFor();
    await page.getByLabel("Show").selectOption("changes");
    await admin.call("insertmicroapprow", { microAppID: "countries", rowData: { Code: "SK" } });
    await noticed("2 of 4 calls");
    await page.getByLabel("Search").fill("Sk");
    await noticed("1 of 4 calls");
  }));
