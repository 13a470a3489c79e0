import { afterAll, beforeAll, expect, test } from "@jest/globals";
import axe from "axe-core";
import { chromium, type Browser, type Page } from "playwright-core";
import type { Change, ChangeSet } from "../model/changeSet.ts";
import { html } from "../rendering/html.ts";

let browser: Browser;
beforeAll(async () => {
  const executablePath = process.env["CHROMIUM"];
  if (executablePath === undefined) throw new Error("CHROMIUM must be the path of a browser: make test-console");
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : []; // Chromium has no sandbox for root
  browser = await chromium.launch({ executablePath, args });
});
afterAll(() => browser.close());

const ops = ["remove", "change", "add"] as const;
const changes = (count: number): Change[] =>
  Array.from({ length: count }, (_, at) => ({
    kind: "row",
    op: ops[at % 3] ?? "change",
    name: `K${at}`,
    fields: [
      { name: "Name", before: `before ${at}`, after: at === 1 ? "<img src=x onerror=alert(1)>" : `after ${at}` },
    ],
    place: `data.csv:${at + 2}`,
  }));
const report = (count: number): ChangeSet => ({
  version: 1,
  kind: "report",
  base: { ref: "main", commit: "0123456789abcdef" },
  flags: [{ text: "runtime changes", place: "Pulumi.yaml" }],
  environments: [
    {
      name: "prod",
      change: {
        compared: true,
        things: [
          {
            kind: "seed",
            name: "cities",
            op: "change",
            place: "prod.yaml:1:1",
            rows: { add: 1, change: 1, remove: 1, same: 0 },
            changes: changes(count),
            omitted: 2,
            notes: ["a note"],
            guards: ["too many"],
          },
        ],
      },
      pending: { compared: false, why: "no state", things: [] },
      problems: [{ text: "a rule", place: "prod.yaml:1:1" }],
      flags: [{ text: "endpoint changes" }],
      notes: ["a note"],
    },
  ],
});

/** Opens a report as a file of its own; what it asks for elsewhere, and what goes wrong in it, are problems. */
async function opened(
  set: ChangeSet,
  colorScheme: "light" | "dark",
  work: (page: Page, problems: string[]) => Promise<void>,
): Promise<void> {
  const context = await browser.newContext({ colorScheme, bypassCSP: true });
  const page = await context.newPage();
  const problems: string[] = [];
  page.on("request", (request) => problems.push(request.url()));
  page.on("pageerror", (error) => problems.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(message.text());
  });
  await page.setContent(html(set));
  await work(page, problems);
  expect(problems).toEqual([]);
  await context.close();
}

test.each(["light", "dark"] as const)("the report in %s: accessible, with contrast enough", (colorScheme) =>
  opened(report(9), colorScheme, async (page) => {
    await page.evaluate(axe.source);
    const { violations, passed } = await page.evaluate<{ violations: unknown[]; passed: string[] }>(
      `axe.run(document, { resultTypes: ["violations"] }).then(({ violations, passes }) => ({
        violations: violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]),
        passed: passes.map(({ id }) => id),
      }))`,
    );
    expect(violations).toEqual([]);
    expect(passed).toEqual(expect.arrayContaining(["color-contrast", "html-has-lang", "page-has-heading-one"]));
  }),
);

test("10,000 changes are filtered by name and value, and texts of others stay texts", () =>
  opened(report(10_000), "light", async (page) => {
    const count = page.getByRole("status");
    await count.getByText("10000 changes listed", { exact: true }).waitFor();
    expect(await page.locator("img").count()).toBe(0);
    await page.getByRole("searchbox").fill("before 7777");
    await count.getByText("1 of 10000 changes listed", { exact: true }).waitFor();
    expect(await page.locator("tbody tr:not([hidden])").count()).toBe(1);
    await page.getByRole("searchbox").fill("");
    await count.getByText("10000 changes listed", { exact: true }).waitFor();
  }));
