import { expect, test } from "@jest/globals";
import { countries, inBrowser, rowsOf, type Opened } from "./page.ts";

const codes = ({ page }: Opened) => page.locator("main tbody tr td:nth-child(1)").allInnerTexts();
const cell = ({ page }: Opened, row: number, column: number) => page.locator(`td[data-at="${row},${column}"]`);

/** Replaces the text of a cell, and leaves it with a key. */
async function edit(opened: Opened, [row, column]: [number, number], text: string, key = "Enter"): Promise<void> {
  await cell(opened, row, column).click();
  await opened.page.locator("td textarea").fill(text);
  await opened.page.keyboard.press(key);
}

test("tables have pages, filters of several conditions and an order, which stand in the address", () =>
  inBrowser(
    async (opened) => {
      const { page, open, press, write, noticed } = opened;
      await open("#tables/countries", "Countries");
      await noticed("Rows 1–50 of 2,000");
      expect((await codes(opened)).slice(0, 2)).toEqual(["C000", "C001"]);
      await press("Next page");
      await noticed("Rows 51–100 of 2,000");
      await page.getByLabel("Field").selectOption("Name");
      await write("Value", "country 1");
      await press("Filter");
      await noticed("Rows 1–50 of 1,111");
      await page.getByLabel("Field").selectOption("Population");
      await page.getByLabel("Condition").selectOption("at most");
      await write("Value", "1900");
      await page.keyboard.press("Enter");
      await noticed("Rows 1–50 of 1,100");
      const order = page.getByRole("columnheader", { name: "Population" }).getByRole("button");
      await order.click();
      await page.locator("th[aria-sort=ascending]").waitFor();
      await cell(opened, 0, 0).filter({ hasText: "C1999" }).waitFor();
      await order.click();
      await page.locator("th[aria-sort=descending]").waitFor();
      await press("Next page");
      await noticed("Rows 51–100 of 1,100");
      await page.reload();
      await noticed("Rows 51–100 of 1,100");
      await page.locator("th[aria-sort=descending]", { hasText: "Population" }).waitFor();
      await page.goBack();
      await noticed("Rows 1–50 of 1,100");
      await page.getByRole("button", { name: "Population at most 1900" }).click();
      await noticed("Rows 1–50 of 1,111");
      await page.getByLabel("Field").selectOption("Population");
      await page.getByLabel("Condition").selectOption("at most");
      await write("Value", "many");
      await press("Filter");
      await page.getByText("Population must be a number").waitFor();
      await open("#tables/cities", "Cities");
      await page.getByText("Each row belongs to a row of Countries").waitFor();
      await page.getByText("The table has no rows yet").waitFor();
    },
    { fill: rowsOf(2000) },
  ));

test("a cell is edited where it stands, by the interface's own call; what is refused stays to be changed", () =>
  inBrowser(
    async (opened) => {
      const { page, open, noticed, admin, emulator } = opened;
      const sent = () => emulator.calls({ mutating: true }).map(({ request }) => request["rowData"]);
      await open("#tables/countries", "Countries");
      await edit(opened, [0, 1], "one\ntwo");
      await noticed("Saved");
      expect(await page.evaluate("document.activeElement.dataset.at")).toBe("0,1");
      await edit(opened, [0, 3], "many");
      await noticed("Population must be a number");
      await page.keyboard.press("Escape");
      expect(await cell(opened, 0, 3).innerText()).toBe("2");
      await edit(opened, [0, 2], "EUR");
      await noticed("No row of Currencies has the Code EUR");
      const euro = await admin.get("rowID", "insertmicroapprow", {
        microAppID: "currencies",
        rowData: { Code: "EUR" },
      });
      await page.getByText("Currencies1").waitFor();
      await page.locator("td textarea").press("Enter");
      await cell(opened, 0, 2).filter({ hasText: "EUR" }).waitFor();
      await edit(opened, [0, 5], "one, two");
      await cell(opened, 0, 5).filter({ hasText: "one, two" }).waitFor();
      await edit(opened, [0, 1], "", "Tab"); // who leaves a cell saves it
      await cell(opened, 0, 1).filter({ hasText: /^\s*$/ }).waitFor();
      await edit(opened, [0, 0], "nothing", "Escape");
      emulator.setFaults({ faults: [{ kind: "status", status: 503, endpoint: "updatemicroapprow", count: 1 }] });
      await edit(opened, [1, 3], "7");
      await noticed("This failure was asked for");
      // What others do takes nothing from who writes.
      await admin.call("insertmicroapprow", { microAppID: "countries", rowData: { Code: "A" } });
      await cell(opened, 2, 0).filter({ hasText: "A" }).waitFor();
      expect(await page.locator("td textarea").inputValue()).toBe("7");
      await page.locator("td textarea").press("Enter");
      await cell(opened, 1, 3).filter({ hasText: "7" }).waitFor();
      expect(sent().filter(Boolean)).toMatchObject([
        { Name: "one\ntwo" },
        { Code: "EUR" },
        { Currency: { crossAppRowID: euro, value: { label: "Code", value: "EUR" } } },
        { Tags: ["one", "two"] },
        { Name: null },
        { Population: 7 },
        { Code: "A" },
        { Population: 7 },
      ]);
    },
    { fill: (admin) => admin.call("insertmicroapprows", { microAppID: "countries", rows: countries(2) }) },
  ));

test("rows are inserted and deleted, and those of others come and go by themselves", () =>
  inBrowser(
    async (opened) => {
      const { page, open, press, write, noticed, admin, emulator } = opened;
      await open("#tables/countries?skip=50", "Countries");
      await noticed("Rows 51–51 of 51");
      emulator.setFaults({ faults: [{ kind: "status", status: 503, endpoint: "removemicroapprow", count: 1 }] });
      await press("Delete row 51");
      await press("Delete");
      await page.getByRole("alert").filter({ hasText: "This failure was asked for" }).waitFor();
      await press("Delete");
      await noticed("Rows 1–50 of 50"); // the page is gone
      await press("New row");
      await write("Code", "CZ");
      await page.getByLabel("Population").fill("10");
      await press("Insert");
      await noticed("Inserted the row");
      expect(emulator.calls({ mutating: true }).at(-1)?.request["rowData"]).toEqual({ Code: "CZ", Population: 10 });
      await admin.get("", "insertmicroapprow", { microAppID: "countries", rowData: { Code: "of others" } });
      await noticed("Rows 1–50 of 52");
    },
    { fill: rowsOf(51) },
  ));
