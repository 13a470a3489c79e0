import { expect, test } from "@jest/globals";
import { testInLong } from "../../../testing/harness/drawn.ts";
import { everything } from "./contents.ts";
import { inBrowser, type Opened } from "./page.ts";

const contents = ({ page }: Opened) => page.getByRole("navigation", { name: "Contents" });
const filled = { fill: (...[admin, emulator]: Parameters<typeof everything>) => everything(admin, emulator) };

test("the tree leads from an organization to its teams, their members and their other teams", () =>
  inBrowser(async (opened) => {
    const { page, open } = opened;
    const tree = contents(opened);
    await open("Acme plain"); // the only organization is open
    await page.getByRole("table", { name: "2 teams" }).waitFor();
    await open("Crew plain");
    await page.getByRole("table", { name: "3 members" }).waitFor();
    const row = (email: string) => page.getByRole("row").filter({ hasText: email }).getByRole("cell").nth(1);
    expect(await row("admin@example.com").innerText()).toBe("admin");
    expect(await row("ada@example.com").innerText()).toBe("member");
    await tree.getByRole("button", { name: "Contents of Crew plain" }).click();
    await open("ada@example.com");
    await page.getByRole("table", { name: "2 teams" }).waitFor();
    await page.getByRole("main").getByRole("link", { name: "All Members" }).click();
    await page.getByRole("heading", { level: 1, name: "All Members" }).waitFor();
    expect(await tree.locator("[aria-current=page]").textContent()).toBe("All Members");
  }, filled));

testInLong("organizations and users are listed with what is known of them", () =>
  inBrowser(async ({ page, view }) => {
    await view("Organizations");
    const cells = await page.getByRole("row").filter({ hasText: "Acme plain" }).getByRole("cell").allInnerTexts();
    expect(cells).toEqual(["Acme plain", "plain", "2", "3", "acme"]);
    await view("Users");
    const standing = (email: string) =>
      page.getByRole("row").filter({ hasText: email }).getByRole("cell").nth(1).innerText();
    expect(await standing("admin@example.com")).toBe("administrator");
    expect(await standing("ada@example.com")).toBe("user");
    expect(await standing("new@example.com")).toBe("invited");
  }, filled),
);

test("the search finds tables, teams and people, and shows the way to them", () =>
  inBrowser(async (opened) => {
    const { page } = opened;
    const links = () => contents(opened).getByRole("link").allTextContents();
    const search = page.getByRole("searchbox", { name: "Search tables, teams and people" });
    expect(await links()).toEqual(["Currencies", "Countries", "Cities", "Acme plain", "All Members", "Crew plain"]);
    await search.fill("CIT");
    expect(await links()).toEqual(["Countries", "Cities"]);
    await search.fill("new@");
    const member = "new@example.com";
    expect(await links()).toEqual(["Acme plain", "All Members", member, "Crew plain", member, member]);
    await search.fill("bob");
    expect(await links()).toEqual(["bob@example.com"]); // who is in no team
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "bob@example.com" }).waitFor();
    await search.fill("nowhere");
    await page.getByText("Nothing is found.").waitFor();
  }, filled));

testInLong("what is folded stays folded when the platform changes", () =>
  inBrowser(async (opened) => {
    const { admin } = opened;
    const tree = contents(opened);
    const tables = tree.getByRole("button", { name: "Contents of Tables" });
    await tables.click();
    await admin.get("", "insertteam", { teamInfo: { organizationID: "acme", name: "Late" } });
    await tree.getByRole("link", { name: "Late" }).waitFor();
    expect(await tables.getAttribute("aria-expanded")).toBe("false");
    expect(await tree.getByRole("link", { name: "Countries" }).count()).toBe(0);
  }, filled),
);
