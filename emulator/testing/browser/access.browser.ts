import { expect, test } from "@jest/globals";
import axe from "axe-core";
import { parse } from "csv-parse/sync";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { countries, everything, views } from "./contents.ts";
import { inBrowser } from "./page.ts";

interface Finding {
  id: string;
  nodes: { html: string }[];
}

/** What the checker of accessibility has to say: names, roles, headings, order, contrast. */
const check = `axe.run(document, { resultTypes: ["violations"] }).then(({ violations, passes }) => ({
  violations: violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => ({ html })) })),
  passed: passes.map(({ id }) => id),
}))`;

test.each(["light", "dark"] as const)("every view in %s: accessible, with contrast enough", (colorScheme) =>
  inBrowser(
    async ({ page, view }) => {
      await page.evaluate(axe.source);
      for (const name of views) {
        await view(name);
        if (name === "Snapshots") await page.getByRole("button", { name: "Compare with now" }).click();
        const { violations, passed } = await page.evaluate<{ violations: Finding[]; passed: string[] }>(check);
        expect([name, violations]).toEqual([name, []]);
        expect(passed).toEqual(expect.arrayContaining(["color-contrast", "html-has-lang", "page-has-heading-one"]));
      }
      const ground = await page.evaluate<string>("getComputedStyle(document.body).backgroundColor");
      expect(ground).toBe(colorScheme === "light" ? "rgb(255, 255, 255)" : "rgb(22, 24, 29)");
    },
    { context: { colorScheme }, fill: (admin, emulator) => everything(admin, emulator) },
  ),
);

const focused = "(document.activeElement.textContent || document.activeElement.tagName).slice(0, 40)";

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
      await visible.focus();
      await page.keyboard.press("Enter");
      expect(await page.evaluate("document.activeElement.id")).toBe("main");
      await page.keyboard.press("Tab");
      await page.keyboard.press("Tab");
      expect(await page.evaluate(focused)).toBe("Countries");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { level: 3, name: "Countries" }).waitFor();

      await page.getByLabel("Value").focus();
      await page.keyboard.type("C");
      await page.keyboard.press("Enter");
      const caption = (text: string) => page.locator("caption", { hasText: text }).waitFor();
      await caption("Rows 1 to 50");
      await page.getByRole("button", { name: "Next page" }).focus();
      await page.keyboard.press("Enter");
      await caption("Rows 51 to 100");
      expect(await page.evaluate(focused)).toBe("Next page");
      // Nor does what others do take it away.
      await admin.get("rowID", "updatemicroapprow", {
        microAppID: "countries",
        rowID: await page.locator("tbody td").first().textContent(),
        rowData: { Name: "of others" },
      });
      await page.getByRole("cell", { name: "of others" }).waitFor();
      expect(await page.evaluate(focused)).toBe("Next page");
      await page.keyboard.press("Enter");
      await caption("Rows 101 to 120");
      expect(await page.evaluate(focused)).toBe("Previous page"); // there is no next one
    },
    { fill: (admin) => admin.get("", "insertmicroapprows", { microAppID: "countries", rows: countries(120) }) },
  ));

test("on a narrow screen nothing but tables is wider than the page", () =>
  inBrowser(
    async ({ page, view }) => {
      for (const name of views) {
        await view(name);
        const over = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
        expect([name, over <= 0]).toEqual([name, true]);
      }
    },
    { context: { viewport: { width: 360, height: 700 } }, fill: (admin, emulator) => everything(admin, emulator) },
  ));

const example = join(import.meta.dirname, "../../../../examples/environment");

test("the picture in the README is drawn (UPDATE_SCREENSHOT=1 writes it anew)", () =>
  inBrowser(
    async ({ page }) => {
      await page.getByRole("link", { name: "Countries" }).click();
      await page.locator("caption", { hasText: "Rows 1 to 50" }).waitFor();
      const picture = await page.screenshot({ clip: { x: 0, y: 0, width: 1100, height: 620 } });
      expect(picture.length).toBeLessThan(200_000);
      if (process.env["UPDATE_SCREENSHOT"]) writeFileSync(join(example, "../../docs/console.png"), picture);
    },
    {
      options: { seed: join(example, "platform.yaml") },
      as: ["admin@example.com", "change-me-first"],
      fill: (admin) => {
        const file = readFileSync(join(example, "data/countries.csv"));
        const rows = parse<Record<string, string>>(file, { columns: true }).map(({ Currency, ...row }) => row);
        return admin.call("insertmicroapprows", { microAppID: "countries", rows }, { "x-api-key": "change-me-too" });
      },
    },
  ));
