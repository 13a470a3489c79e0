import { expect, test } from "@jest/globals";
import { countries } from "./contents.ts";
import { inBrowser } from "./page.ts";

const rowsOf = (count: number) => (admin: { call: (name: "insertmicroapprows", body: object) => Promise<unknown> }) =>
  admin.call("insertmicroapprows", { microAppID: "countries", rows: countries(count) });

test("tables: pages with their place among all rows, a filter, an order, another table", () =>
  inBrowser(
    async ({ page, open }) => {
      await open("Countries");
      const codes = () => page.locator("main tbody tr td:nth-child(1)").allInnerTexts();
      const caption = (text: string) => page.locator("main caption", { hasText: text }).waitFor();
      await caption("Rows 1–50 of 2,000");
      expect((await codes()).slice(0, 2)).toEqual(["C000", "C001"]);
      expect(await page.getByRole("button", { name: "Previous page" }).isDisabled()).toBe(true);
      const next = page.getByRole("button", { name: "Next page" });
      await next.click();
      await caption("Rows 51–100 of 2,000");
      await page.getByText("Page 2 of 40").waitFor();
      await page.getByRole("button", { name: "Previous page" }).click();
      await caption("Rows 1–50 of 2,000");

      const show = page.getByRole("button", { name: "Filter", exact: true });
      await page.getByLabel("Field").selectOption("Name");
      await page.getByLabel("Value").fill("country 11");
      await show.click();
      await caption("Rows 1–50 of 111");
      await next.click();
      await next.click();
      await caption("Rows 101–111 of 111");
      expect(await next.isDisabled()).toBe(true);
      await page.getByLabel("Field").selectOption("Population");
      await page.getByLabel("Condition").selectOption("at least");
      await page.getByLabel("Value").fill("1998");
      await show.click();
      await caption("Rows 1–3 of 3");
      const order = page.getByRole("columnheader", { name: "Population" });
      await order.getByRole("button").click();
      await page.locator("th[aria-sort=ascending]").waitFor();
      expect(await codes()).toEqual(["C002", "C001", "C000"]);
      await order.getByRole("button").click();
      await page.locator("th[aria-sort=descending]").waitFor();
      expect(await codes()).toEqual(["C000", "C001", "C002"]);
      await page.getByLabel("Condition").selectOption("is empty");
      await show.click();
      await page.getByText("No row fits the filter").waitFor();
      await page.getByRole("button", { name: "Clear" }).click();
      await caption("Rows 1–50 of 2,000");

      await open("Cities");
      await page.getByText("Each row belongs to a row of Countries").waitFor();
      await page.getByText("The table has no rows yet").waitFor();
    },
    { fill: rowsOf(2000) },
  ));

test("the columns of the table come first, and a click copies the ID, which is shortened and last", () =>
  inBrowser(
    async ({ page, open, noticed, admin }) => {
      await open("Countries");
      const headings = await page.getByRole("columnheader").allInnerTexts();
      expect([headings.slice(0, 2), headings.slice(-2)]).toEqual([
        ["Code", "Name"],
        ["ID", "Row"],
      ]);
      const [{ _id: rowID } = { _id: "" }] = (await admin.get("body.microAppRows", "microappdata", {
        microAppID: "countries",
      })) as { _id: string }[];
      const id = page.getByTitle(`Copy ${rowID}`);
      expect(await id.textContent()).toBe(`${rowID.slice(0, 4)}…${rowID.slice(-5)}`);
      await id.click();
      await noticed(`Copied ${rowID}`);
      expect(await page.evaluate("navigator.clipboard.readText()")).toBe(rowID);
    },
    { fill: rowsOf(1), context: { permissions: ["clipboard-read", "clipboard-write"] } },
  ));

test("a row that somebody inserts appears by itself, and is seen whole", () =>
  inBrowser(async ({ page, admin, open }) => {
    await open("Countries");
    await admin.get("rowID", "insertmicroapprow", { microAppID: "countries", rowData: { Code: "CZ", Population: 10 } });
    await page.getByRole("cell", { name: "CZ", exact: true }).waitFor();
    await page.getByRole("button", { name: "Open" }).click();
    const dialog = page.getByRole("dialog", { name: "CZ" });
    await dialog.getByText("isLocked", { exact: true }).waitFor();
    await dialog.getByText("JSON").click();
    await dialog.getByText('"Code": "CZ"').waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
  }));

test("when the last page is deleted, the one before it is shown", () =>
  inBrowser(
    async ({ page, admin, open }) => {
      await open("Countries");
      await page.getByRole("button", { name: "Next page" }).click();
      await page.locator("caption", { hasText: "Rows 51–51 of 51" }).waitFor();
      const rows = (await admin.get("body.microAppRows", "microappdata", { microAppID: "countries" })) as {
        _id: string;
        Code: string;
      }[];
      const last = rows.find(({ Code }) => Code === "C050");
      await admin.get("", "removemicroapprow", { microAppID: "countries", rowID: last?._id });
      await page.locator("caption", { hasText: "Rows 1–50 of 50" }).waitFor();
    },
    { fill: rowsOf(51) },
  ));
