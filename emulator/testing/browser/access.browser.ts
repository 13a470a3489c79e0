import { expect, test } from "@jest/globals";
import axe from "axe-core";
import { parse } from "csv-parse/sync";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse as parseYaml } from "yaml";
import { seed } from "../platform.ts";
import { everything, inBrowser, rowsOf } from "./page.ts";

const places = {
  "#tables/countries": "Countries",
  "#people": "People",
  "#people/acme/crew": "Crew plain",
  "#calls": "Calls",
  "#none": "There is no such page",
};

const check = `axe.run(document, { resultTypes: ["violations"] }).then(({ violations, passes }) => ({
  violations: violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]),
  passed: passes.map(({ id }) => id),
}))`;

test.each([
  ["light", "rgb(255, 255, 255)", 1280],
  ["dark", "rgb(22, 24, 29)", 420],
] as const)("every view in %s is accessible, has contrast enough and fits", (colorScheme, ground, width) =>
  inBrowser(
    async ({ page, open, press }) => {
      await page.evaluate(axe.source);
      const findings = async (name: string) => {
        const { violations, passed } = await page.evaluate<{ violations: unknown[]; passed: string[] }>(check);
        expect([name, violations]).toEqual([name, []]);
        expect(passed).toContain(name.startsWith("#") ? "color-contrast" : "aria-valid-attr");
        const over = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
        expect(await page.evaluate(`${over} + main.scrollWidth - main.clientWidth`)).toBe(0);
      };
      for (const [hash, heading] of Object.entries(places)) {
        await open(hash, heading);
        if (hash === "#calls") await page.locator("summary").first().click();
        await findings(hash);
      }
      await open("#tables/countries?field=Code&kind=contains&value=C", "Countries");
      await page.locator("td textarea").or(page.locator("td").nth(1)).click();
      await findings("an edited cell");
      await page.keyboard.press("Escape");
      for (const button of ["Delete row 1", "New row"]) {
        await press(button);
        await findings(button);
        await page.keyboard.press("Escape");
      }
      expect(await page.evaluate("getComputedStyle(document.body).backgroundColor")).toBe(ground);
    },
    { context: { colorScheme, viewport: { width, height: 800 } }, fill: everything },
  ),
);

test("the keyboard reaches everything, and the focus stays where it was", () =>
  inBrowser(
    async ({ page, open, noticed, admin }) => {
      const focused = () => page.evaluate("document.activeElement.innerText.split('\\n')[0]");
      const at = () => page.evaluate("document.activeElement.dataset.at");
      await open("#tables/countries", "Countries");
      for (const name of ["Skip to the content", "Tables", "People", "Calls", "Currencies", "Countries"]) {
        await page.keyboard.press("Tab");
        expect(await focused()).toBe(name);
        expect(await page.evaluate("getComputedStyle(document.activeElement).outlineStyle")).toBe("solid");
      }
      await page.getByRole("button", { name: "Skip to the content" }).press("Enter");
      expect(await page.evaluate("document.activeElement.id")).toBe("main");
      await page.getByRole("columnheader", { name: "ID" }).getByRole("button").focus();
      await page.keyboard.press("Tab"); // one stop for the whole grid
      expect(await at()).toBe("0,0");
      for (const key of ["ArrowDown", "ArrowDown", "ArrowRight", "ArrowUp", "ArrowRight", "ArrowLeft"])
        await page.keyboard.press(key);
      expect(await at()).toBe("1,1");
      await page.keyboard.press("Enter");
      await page.keyboard.type("Name by keys");
      await page.keyboard.press("Enter");
      await noticed("Saved");
      expect(await at()).toBe("1,1");
      for (let column = 0; column < 9; column++) await page.keyboard.press("ArrowRight");
      expect(await focused()).toBe("Delete");
      await page.keyboard.press("Enter");
      await page.getByRole("dialog", { name: "Delete C001?" }).waitFor();
      expect(await focused()).toBe("Cancel"); // the harmless button
      await page.keyboard.press("Enter");
      expect(await at()).toBe("1,10");
      await page.keyboard.press("Tab");
      expect(await focused()).toBe("Next page");
      await page.keyboard.press("Enter");
      await noticed("Rows 51–100 of 120");
      await admin.call("insertmicroapprow", { microAppID: "countries", rowData: { Code: "of others" } });
      await noticed("Rows 51–100 of 121");
      expect(await focused()).toBe("Next page");
    },
    { fill: rowsOf(120) },
  ));

const hostile = [
  `<img src="https://evil.example/x" onerror="document.title='taken'">`,
  `<script>document.title='taken'</script>`,
  `"><svg onload="document.title='taken'">`,
  `</caption><a href="javascript:document.title='taken'">x</a>\u202e`,
].join("");
const markup = ":is(#console, dialog) :is(img, svg, script, iframe, [onerror], [onload], a[href^='javascript:'])";
const fields = { Code: "text", Name: "text", Population: "number", [hostile]: "text", constructor: "text" } as const;

test("whatever the platform's values and the address say is text, in every view", () =>
  inBrowser(
    async ({ page, emulator, admin }) => {
      const taken = async (hash: string) => {
        expect([hash, await page.locator(markup).count()]).toEqual([hash, 0]);
        expect(await page.title()).not.toBe("taken");
        expect(await page.locator("#console").innerText()).not.toContain("\u202e");
      };
      for (const hash of ["#tables/countries", "#people", "#people/acme", "#people/acme/crew", "#calls"]) {
        await page.goto(`${emulator.url}/${hash}`);
        await page.getByText("<script>").first().waitFor({ state: "attached" });
        await taken(hash);
      }
      await admin.call("readteam", { teamID: `${hostile}, live` });
      await page.getByText(", live").first().waitFor({ state: "attached" });
      await taken("a new call");
      const written = encodeURIComponent(hostile);
      for (const hash of [`tables/${written}`, `people/${written}/x`, "people/acme/x", "100%", "__proto__", written]) {
        await page.goto(`${emulator.url}/#${hash}`);
        await page.getByRole("heading", { level: 1, name: /^There is no such/ }).waitFor();
        await taken(hash);
      }
    },
    {
      options: { seed: { ...seed, tables: { countries: { name: hostile, fields } } } },
      fill: (admin) => everything(admin, hostile),
    },
  ));

test("without the token of its address it shows nothing but where that stands", () =>
  inBrowser(async ({ page, emulator, open }) => {
    await open("#calls", "Calls");
    expect(page.url()).toBe(`${emulator.url}/#calls`); // the token is out of sight, and kept
    const stranger = await page.context().newPage();
    await stranger.goto(emulator.url);
    await stranger.getByText("which the emulator printed when it started").first().waitFor();
    expect(await stranger.getByText("Countries").count()).toBe(0);
    await stranger.goto(emulator.console);
    await stranger.getByRole("navigation", { name: "Contents" }).getByText("Countries").waitFor();
  }));

const root = join(import.meta.dirname, "../../../..");

test("the picture in the README is drawn (UPDATE_SCREENSHOT=1 writes it)", () =>
  inBrowser(
    async ({ page, open, noticed }) => {
      await open("#tables/currencies?field=Name&kind=contains&value=dollar&sort=Name", "Currencies");
      await noticed("Rows 1–");
      await page.locator("td[data-at='2,1']").click();
      const picture = await page.screenshot();
      expect(picture.length).toBeLessThan(90_000);
      if (process.env["UPDATE_SCREENSHOT"]) writeFileSync(join(root, "docs/console.png"), picture);
    },
    {
      context: { viewport: { width: 1120, height: 490 } },
      options: { seed: parseYaml(readFileSync(join(root, "examples/environment/platform.yaml"), "utf8")) as object },
      as: ["admin@example.com", "change-me-first"],
      fill: async (admin) => {
        const file = readFileSync(join(root, "examples/environment/data/currencies.csv"));
        const listed = parse<Record<string, string>>(file, { columns: true });
        const rows = listed.map(({ Decimals, ...row }) => (Decimals ? { ...row, Decimals: Number(Decimals) } : row));
        await admin.call("insertmicroapprows", { microAppID: "currencies", rows }, { "x-api-key": "change-me-too" });
      },
    },
  ));
