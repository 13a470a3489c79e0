// An app in a browser, which calls the platform itself: npx playwright test
import { expect, test } from "@playwright/test";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createEmulator } from "pulumi-microapps/emulator";

test.use({ launchOptions: { executablePath: process.env.CHROMIUM } }); // Playwright's own browser without it

let app, origin, emulator;
test.beforeAll(async () => {
  app = createServer((_, answer) => answer.setHeader("content-type", "text/html").end(readFileSync("app.html")));
  await once(app.listen(0, "127.0.0.1"), "listening");
  origin = `http://127.0.0.1:${app.address().port}`;
  emulator = await createEmulator({ seed: "platform.yaml", allowOrigins: [origin] });
});
test.afterAll(() => Promise.all([app.close(), emulator.close()]));

test("what is added is listed, and what is refused is named", async ({ page }) => {
  await page.goto(`${origin}/?platform=${emulator.url}`);
  await page.getByLabel("Code").fill("CZ");
  await page.getByRole("button", { name: "Add" }).click();
  await expect(page.getByRole("listitem")).toHaveText(["CZ"]);
  emulator.setFaults({ faults: [{ kind: "status", status: 503, endpoint: "insertmicroapprow", count: 1 }] });
  await page.getByRole("button", { name: "Add" }).click();
  await expect(page.getByRole("status")).toHaveText("insertmicroapprow: status 503");
  expect(emulator.calls({ endpoint: "insertmicroapprow" }).map(({ status }) => status)).toEqual([200, 503]);
});
