import { expect, test } from "@jest/globals";
import axe from "axe-core";
import { parse } from "csv-parse/sync";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sampleOf, testInLong } from "../../../testing/harness/drawn.ts";
import { countries, everything, views } from "./contents.ts";
import { inBrowser } from "./page.ts";
import { withPalette } from "./palette.ts";

interface Finding {
  id: string;
  nodes: { html: string }[];
}

/** Accessibility findings: names, roles, headings, order, contrast. */
const check = `axe.run(document, { resultTypes: ["violations"] }).then(({ violations, passes }) => ({
  violations: violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => ({ html })) })),
  passed: passes.map(({ id }) => id),
}))`;

const addresses = ["#tables/countries", "#organizations/acme", "#organizations/acme/crew", "#users/nobody", "#none"];

test.each(sampleOf(["dark", "light"] as const, 1))(
  "every view in %s: accessible, with contrast enough",
  (colorScheme) =>
    inBrowser(
      async ({ page, view, emulator }) => {
        await page.evaluate(axe.source);
        const findings = async (name: string) => {
          const { violations, passed } = await page.evaluate<{ violations: Finding[]; passed: string[] }>(check);
          expect([name, violations]).toEqual([name, []]);
          expect(passed).toEqual(expect.arrayContaining(["color-contrast", "html-has-lang", "page-has-heading-one"]));
        };
        for (const name of views) {
          await view(name);
          if (name === "Snapshots") {
            await page.getByRole("button", { name: "Compare with now" }).click();
            await page.getByRole("table", { name: /since before$/ }).waitFor();
          }
          if (name === "Calls") await page.locator(".call summary").first().click();
          await findings(name);
        }
        await page.getByRole("button", { name: "Delete" }).click();
        await page.getByRole("dialog").waitFor();
        const { violations } = await page.evaluate<{ violations: Finding[] }>(check);
        expect(["dialog", violations]).toEqual(["dialog", []]);
        await page.keyboard.press("Escape");
        for (const address of addresses) {
          await page.evaluate(`location.hash = ${JSON.stringify(address)}`);
          await page.locator(`a[href="${address}"][aria-current]`).or(page.locator("main q")).first().waitFor();
          await findings(address);
          if (address !== "#tables/countries") continue;
          await page.getByRole("button", { name: "As JSON" }).click();
          await page.getByRole("button", { name: "New row" }).click();
          await page.getByRole("dialog").waitFor();
          const form = await page.evaluate<{ violations: Finding[] }>(check);
          expect(["form", form.violations]).toEqual(["form", []]);
          await page.keyboard.press("Escape");
        }
        expect(page.url().startsWith(emulator.url)).toBe(true);
        const ground = await page.evaluate<string>(background);
        expect(ground).toBe(colorScheme === "light" ? light : dark);
      },
      { context: { colorScheme }, fill: (admin, emulator) => everything(admin, emulator) },
    ),
);

const background = "getComputedStyle(document.body).backgroundColor";
const light = "rgb(255, 255, 255)";
const dark = "rgb(22, 24, 29)";

test("the theme is the browser's until somebody chooses another, which is kept", () =>
  inBrowser(
    async ({ page }) => {
      const ground = () => page.evaluate<string>(background);
      expect(await ground()).toBe(light);
      await page.getByRole("radio", { name: "Dark" }).check({ force: true });
      expect(await ground()).toBe(dark);
      await page.reload();
      await page.getByRole("heading", { level: 1 }).waitFor();
      expect([await ground(), await page.getByRole("radio", { name: "Dark" }).isChecked()]).toEqual([dark, true]);
      await page.getByRole("radio", { name: "System" }).check({ force: true });
      expect(await ground()).toBe(light);
    },
    { context: { colorScheme: "light" } },
  ));

const focused = "(document.activeElement.textContent || document.activeElement.id).trim().slice(0, 40)";

test("the keyboard reaches everything, and the focus stays where it was", () =>
  inBrowser(
    async ({ page, admin }) => {
      await page.keyboard.press("Tab");
      expect(await page.evaluate(focused)).toBe("Skip to the content");
      const visible = page.getByRole("link", { name: "Skip to the content" });
      expect((await visible.boundingBox())?.x).toBeGreaterThanOrEqual(0);
      for (const name of views) {
        await page.keyboard.press("Tab");
        expect(await page.evaluate(focused)).toBe(name);
        expect(await page.evaluate("getComputedStyle(document.activeElement).outlineStyle")).toBe("solid");
      }
      await page.keyboard.press("Tab");
      expect(await page.evaluate("document.activeElement.id")).toBe("search");
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("ArrowDown");
      expect(await page.evaluate(focused)).toBe("Countries");
      const cities = page.getByRole("navigation", { name: "Contents" }).getByRole("link", { name: "Cities" });
      await page.keyboard.press("ArrowLeft");
      await cities.waitFor({ state: "detached" });
      await page.keyboard.press("ArrowRight");
      await cities.waitFor();
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { level: 1, name: "Countries" }).waitFor();
      await visible.focus();
      await page.keyboard.press("Enter");
      expect(await page.evaluate("document.activeElement.id")).toBe("main");

      await page.getByLabel("Value").focus();
      await page.keyboard.type("C");
      await page.keyboard.press("Enter");
      const caption = (text: string) => page.locator("caption", { hasText: text }).waitFor();
      await caption("Rows 1–50 of 120");
      await page.getByRole("button", { name: "Next page" }).focus();
      await page.keyboard.press("Enter");
      await caption("Rows 51–100 of 120");
      expect(await page.evaluate(focused)).toBe("Next page");
      // Nor does what others do take it away.
      const [, rowID = ""] =
        /^Copy (.+)$/.exec((await page.locator("tbody .id").first().getAttribute("title")) ?? "") ?? [];
      await admin.get("rowID", "updatemicroapprow", {
        microAppID: "countries",
        rowID,
        rowData: { Name: "of others" },
      });
      await page.getByRole("cell", { name: "of others" }).waitFor();
      expect(await page.evaluate(focused)).toBe("Next page");
    },
    { fill: (admin) => admin.get("", "insertmicroapprows", { microAppID: "countries", rows: countries(120) }) },
  ));

testInLong(
  "single keys open views, turn pages, search and explain themselves, but not while something is written",
  () =>
    inBrowser(
      async ({ page, open }) => {
        await open("Countries");
        const caption = (text: string) => page.locator("caption", { hasText: text }).waitFor();
        await page.keyboard.press("n");
        await caption("Rows 51–60 of 60");
        await page.keyboard.press("p");
        await caption("Rows 1–50 of 60");
        await page.keyboard.press("f");
        await page.keyboard.type("n7/?");
        expect(await page.getByLabel("Value").inputValue()).toBe("n7/?");
        await page.getByRole("button", { name: "Filter", exact: true }).focus();
        await page.keyboard.press("/");
        await page.keyboard.type("cur");
        await page.keyboard.press("Enter");
        await page.getByRole("heading", { level: 1, name: "Currencies" }).waitFor();
        await page.getByRole("link", { name: "Currencies" }).focus();
        await page.keyboard.press("7");
        await page.getByRole("heading", { level: 1, name: "Calls" }).waitFor();
        await page.keyboard.press("?");
        await page.getByRole("dialog", { name: "Keyboard" }).getByText("Next and previous page of rows").waitFor();
        await page.keyboard.press("1"); // the dialog comes first
        await page.keyboard.press("Escape");
        await page.getByRole("dialog").waitFor({ state: "hidden" });
        await page.getByRole("heading", { level: 1, name: "Calls" }).waitFor();
      },
      { fill: (admin) => admin.get("", "insertmicroapprows", { microAppID: "countries", rows: countries(60) }) },
    ),
);

test.each(sampleOf([420, 1280], 1))("at %d pixels every view fits, tables and all", (width) =>
  inBrowser(
    async ({ page, view, emulator }) => {
      const fits = async (name: string) => {
        const over = await page.evaluate<number[]>(
          `[document.documentElement, ...document.querySelectorAll("main, main .scroll, main .run")]
            .map((element) => element.scrollWidth - element.clientWidth)`,
        );
        expect([name, Math.max(...over)]).toEqual([name, 0]);
      };
      for (const name of views) {
        await view(name);
        await fits(name);
      }
      await page.goto(`${emulator.url}/#tables/countries`);
      await page.locator("caption", { hasText: "Rows 1–3 of 3" }).waitFor();
      await fits("rows");
    },
    { context: { viewport: { width, height: 800 } }, fill: (admin, emulator) => everything(admin, emulator) },
  ),
);

test("on a narrow screen the side bar is a menu that closes when something is chosen", () =>
  inBrowser(
    async ({ page }) => {
      const menu = page.getByRole("button", { name: "Menu" });
      const navigation = page.getByRole("navigation", { name: "Views" });
      expect(await navigation.isVisible()).toBe(false);
      await menu.click();
      expect(await menu.getAttribute("aria-expanded")).toBe("true");
      await navigation.getByRole("link", { name: "Users" }).click();
      await page.getByRole("heading", { level: 1, name: "Users" }).waitFor();
      expect(await navigation.isVisible()).toBe(false);
      await menu.click();
      await navigation.getByRole("link", { name: "Users" }).focus();
      await page.keyboard.press("Escape");
      expect(await navigation.isVisible()).toBe(false);
      expect(await page.evaluate("document.activeElement.id")).toBe("menu");
    },
    { context: { viewport: { width: 420, height: 800 } } },
  ));

const example = join(import.meta.dirname, "../../../../examples/environment");

test("the picture in the README is drawn (UPDATE_SCREENSHOT=1 writes it)", () =>
  inBrowser(
    async ({ page, open }) => {
      await open("Countries");
      await page.locator("caption", { hasText: /^\s*Rows 1–/ }).waitFor();
      const picture = withPalette(await page.screenshot({ clip: { x: 0, y: 0, width: 1120, height: 540 } }));
      expect(picture.length).toBeLessThan(50_000);
      if (process.env["UPDATE_SCREENSHOT"]) writeFileSync(join(example, "../../docs/console.png"), picture);
    },
    {
      context: { viewport: { width: 1120, height: 540 } },
      options: { seed: join(example, "platform.yaml") },
      as: ["admin@example.com", "change-me-first"],
      fill: (admin) => {
        const file = readFileSync(join(example, "data/countries.csv"));
        const rows = parse<Record<string, string>>(file, { columns: true }).map(({ Currency, ...row }) => row);
        return admin.call("insertmicroapprows", { microAppID: "countries", rows }, { "x-api-key": "change-me-too" });
      },
    },
  ));
