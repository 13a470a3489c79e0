import { expect, test } from "@jest/globals";
import { seed } from "../platform.ts";
import { everything, views } from "./contents.ts";
import { inBrowser } from "./page.ts";

const hostile = [
  `<img src="https://evil.example/x" onerror="document.title='taken'">`,
  `<script>document.title='taken'</script>`,
  `"><svg onload="document.title='taken'">`,
  `</caption><a href="javascript:document.title='taken'">x</a>\u202e`,
].join("");
const markup =
  "#console :is(img, script, iframe, [onerror], [onload], a[href^='javascript:']), main svg, dialog :is(img, svg)";

const options = {
  seed: {
    ...seed,
    tables: {
      countries: {
        name: hostile,
        fields: { Code: "text", Name: "text", [hostile]: "text", Flag: { type: "file", id: "flag" } },
      },
    },
  },
} as const;

test("whatever the platform's values say is shown as text, in every view", () =>
  inBrowser(
    async ({ page, view, admin }) => {
      for (const name of views) {
        await view(name);
        if (name === "Snapshots") await page.getByRole("button", { name: "Compare with now" }).click();
        if (name === "Tables") await page.getByRole("main").getByRole("link").first().click();
        await page.getByText("<script>").first().waitFor({ state: "attached" });
        expect(await page.locator(markup).count()).toBe(0);
        expect(await page.title()).not.toBe("taken");
      }
      await view("Calls");
      await admin.call("readteam", { teamID: `${hostile}, live` });
      await page.getByText(", live").first().waitFor({ state: "attached" });
      expect(await page.locator(markup).count()).toBe(0);
      expect(await page.title()).toBe("Calls – Emulator");
    },
    { options, fill: (admin, emulator) => everything(admin, emulator, hostile) },
  ));

test("nor does the address make markup", () =>
  inBrowser(async ({ page, emulator }) => {
    for (const hash of [
      `#users/${encodeURIComponent(hostile)}`,
      `#organizations/${encodeURIComponent(hostile)}/x`,
      "#100%",
      `#tables/${encodeURIComponent(hostile)}`,
      "#__proto__",
      "#constructor/x",
      `#${encodeURIComponent(hostile)}`,
    ]) {
      await page.goto(`${emulator.url}/${hash}`);
      await page.getByRole("heading", { level: 1, name: /^There is no such/ }).waitFor();
      expect(await page.locator(markup).count()).toBe(0);
    }
  }));
