import { expect, test } from "@jest/globals";
import { testInLong } from "../../../testing/harness/drawn.ts";
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

test("rows are shown before the side bar's new contents, which follow", () =>
  inBrowser(
    async ({ page, open, admin }) => {
      await open("Cities");
      await page.getByText("The table has no rows yet").waitFor();
      const released = Promise.withResolvers<null>();
      await page.route("**/_emulator/organizations", async (route) => {
        await released.promise;
        await route.continue();
      });
      await open("Countries");
      await page.locator("main caption", { hasText: "Rows 1–20 of 20" }).waitFor();
      await admin.get("", "insertorganization", { organizationInfo: { _id: "later", name: "Later" } });
      expect(await page.getByRole("link", { name: "Later" }).count()).toBe(0);
      released.resolve(null);
      await page.getByRole("link", { name: "Later" }).waitFor();
    },
    { fill: rowsOf(20) },
  ));

test("a table with very many rows shows some at once, and their number when they are counted", () =>
  inBrowser(
    async ({ page, open, admin }) => {
      await open("Countries");
      const caption = (text: string) => page.locator("main caption", { hasText: text }).waitFor();
      await caption("Rows 1–50 of 20,100");
      await page.locator(".count", { hasText: "20,100" }).waitFor();
      await page.getByLabel("Field").selectOption("Name");
      await page.getByLabel("Value").fill("country 11");
      await page.getByRole("button", { name: "Filter", exact: true }).click();
      await caption("Rows 1–50 of 1,111");
      await page.getByRole("button", { name: "Clear" }).click();
      await caption("Rows 1–50 of 20,100");
      await admin.call("insertmicroapprow", { microAppID: "countries", rowData: { Code: "new" } });
      await caption("Rows 1–50 of 20,101");
    },
    {
      fill: async (admin) => {
        const rows = countries(20_100);
        for (let first = 0; first < rows.length; first += 10_000)
          await admin.call("insertmicroapprows", { microAppID: "countries", rows: rows.slice(first, first + 10_000) });
      },
    },
  ));

testInLong("the columns of the table come first, and a click copies the ID, which is shortened and last", () =>
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
  ),
);

testInLong("a row that somebody inserts appears by itself, and is seen whole", () =>
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
  }),
);

testInLong("when the last page is deleted, the one before it is shown", () =>
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
  ),
);

test("filter, order and page stand in the address: reloaded, gone back from, and taken to another window", () =>
  inBrowser(
    async ({ page, open }) => {
      await open("Countries");
      const caption = (text: string, on = page) => on.locator("main caption", { hasText: text }).waitFor();
      await page.getByLabel("Field").selectOption("Name");
      await page.getByLabel("Value").fill("country 1");
      await page.getByRole("button", { name: "Add a condition" }).click();
      await page.getByLabel("Field 2").selectOption("Population");
      await page.getByLabel("Condition 2", { exact: true }).selectOption("at most");
      await page.getByLabel("Value 2").fill("1900");
      await page.getByRole("button", { name: "Filter", exact: true }).click();
      await caption("Rows 1–50 of 1,100");
      await page.getByRole("columnheader", { name: "Population" }).getByRole("button").click();
      await page.locator("th[aria-sort=ascending]").waitFor();
      await page.getByRole("button", { name: "Next page" }).click();
      await caption("Rows 51–100 of 1,100");
      await page.reload();
      await caption("Rows 51–100 of 1,100");
      expect(await page.getByLabel("Value 2").inputValue()).toBe("1900");
      expect(await page.getByLabel("Condition 2", { exact: true }).inputValue()).toBe("at most");
      await page.locator("th[aria-sort=ascending]", { hasText: "Population" }).waitFor();
      await page.goBack();
      await caption("Rows 1–50 of 1,100");
      await page.getByRole("button", { name: "As JSON" }).click();
      const json = page.getByLabel("Filter as JSON");
      expect(JSON.parse(await json.inputValue())).toEqual([
        { Name: { $regex: "country 1", $options: "i" } },
        { Population: { $lte: 1900 } },
      ]);
      await json.fill('{ "Code": { "$in": ["C001", "C002"] } }');
      await page.getByRole("button", { name: "Filter", exact: true }).click();
      await caption("Rows 1–2 of 2");
      await json.fill("{ Code");
      await page.getByRole("button", { name: "Filter", exact: true }).click();
      await page.getByRole("status").filter({ hasText: "The filter is no JSON" }).waitFor();
    },
    { fill: rowsOf(2000) },
  ));

test("columns are hidden and made wider, also with keys, and are so after a reload; the key is never cut", () =>
  inBrowser(
    async ({ page, open }) => {
      await open("Countries");
      const headings = () => page.getByRole("columnheader").allInnerTexts();
      await page.getByText("Columns", { exact: true }).click();
      await page.getByLabel("Name", { exact: true }).uncheck();
      expect((await headings()).slice(0, 2)).toEqual(["Code", "Currency"]);
      const widthOf = async (name: string) =>
        (await page.getByRole("columnheader", { name }).boundingBox())?.width ?? 0;
      const edge = page.getByRole("separator", { name: "Width of Population" });
      const before = await widthOf("Population");
      await edge.focus();
      await page.keyboard.press("ArrowRight");
      await page.keyboard.press("ArrowRight");
      expect(Math.round((await widthOf("Population")) - before)).toBe(40);
      const box = (await edge.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
      await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
      await page.mouse.down();
      await page.mouse.move(box.x + box.width / 2 + 100, box.y + 2, { steps: 4 });
      await page.mouse.up();
      const wide = await widthOf("Population");
      expect(Math.round(wide - before)).toBe(140);
      await page.reload();
      await page.locator("main caption").waitFor();
      expect((await headings()).slice(0, 2)).toEqual(["Code", "Currency"]);
      expect(await widthOf("Population")).toBe(wide);
      const key = 'document.querySelector("td.key .line")';
      const cut = await page.evaluate<boolean>(`${key}.scrollWidth > ${key}.clientWidth`);
      expect(cut).toBe(false);
    },
    { fill: rowsOf(3) },
  ));

test("what is shown is exported whole, as CSV and as JSON", () =>
  inBrowser(
    async ({ page, open, noticed }) => {
      await open("Countries");
      await page.getByLabel("Condition").selectOption("is empty");
      await page.getByLabel("Field").selectOption("Capital");
      const saved = async (format: string) => {
        const download = page.waitForEvent("download");
        await page.getByRole("button", { name: format, exact: true }).click();
        const chunks = await (await (await download).createReadStream()).toArray();
        return Buffer.concat(chunks as Buffer[]).toString(); // a file's stream gives buffers
      };
      const lines = (await saved("CSV")).trimEnd().split("\n");
      await noticed("Exported 120 rows");
      expect(lines).toHaveLength(121);
      expect(lines[0]).toMatch(/^Code,Name,.*_id$/);
      expect(lines.at(-1)).toMatch(/^"a ""quoted"", key",/);
      const rows = JSON.parse(await saved("JSON")) as { Code: string }[];
      expect(rows.map(({ Code }) => Code)).toEqual([
        ...countries(119).map((row) => (row as { Code: string }).Code),
        'a "quoted", key',
      ]);
    },
    {
      fill: async (admin) => {
        await admin.get("", "insertmicroapprows", {
          microAppID: "countries",
          rows: [...countries(119), { Code: 'a "quoted", key' }],
        });
      },
    },
  ));

testInLong("a condition on a number takes a number alone, and an address whose filter is none says so", () =>
  inBrowser(
    async ({ page, open, noticed, emulator }) => {
      await open("Countries");
      await page.getByLabel("Field").selectOption("Population");
      await page.getByLabel("Condition").selectOption("at least");
      await page.getByLabel("Value").fill("many");
      await page.getByRole("button", { name: "Filter", exact: true }).click();
      await noticed("Population must be a number");
      await page.getByRole("button", { name: "Dismiss" }).click();
      await page.getByRole("button", { name: "As JSON" }).click();
      await noticed("Population must be a number");
      await page.goto(`${emulator.url}/#tables/countries?json=%7BCode`);
      await page.getByText("The filter is no JSON").waitFor();
      await page.getByLabel("Filter as JSON").fill('{ "Code": "C001" }');
      await page.getByRole("button", { name: "Filter", exact: true }).click();
      await page.locator("main caption", { hasText: "Rows 1–1 of 1" }).waitFor();
      const nine = Array.from({ length: 9 }, () => `where=${encodeURIComponent('["Code","contains","C00"]')}`);
      await page.goto(`${emulator.url}/#tables/countries?${nine.join("&")}`);
      await page.getByLabel("Field 9").waitFor();
      await open("Countries");
      await page.locator("main caption", { hasText: "Rows 1–3 of 3" }).waitFor();
    },
    { fill: rowsOf(3) },
  ),
);
