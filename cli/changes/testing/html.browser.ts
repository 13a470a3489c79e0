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
    same: { Area: `area ${at}`, Size: "large" },
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
            columns: ["Name", "Area", "Size"],
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

/** A comparison of two environments, which may be promoted. */
function comparison(): ChangeSet {
  const set = report(9);
  const [environment] = set.environments;
  if (!environment) throw new Error("a report has an environment");
  const { pending: _, ...rest } = environment;
  const [thing] = rest.change.things;
  const [, first] = thing?.changes ?? [];
  if (first) first.name = "it's K1";
  return { version: 1, kind: "changes", flags: [], environments: [{ ...rest, name: "dev → prod" }] };
}

/** Lists the faults that axe finds in a page. */
async function violationsOf(page: Page): Promise<unknown[]> {
  await page.evaluate(axe.source);
  return page.evaluate<unknown[]>(
    `axe.run(document).then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]))`,
  );
}

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
    const rows = page.locator(".grid tbody tr");
    expect(await rows.count()).toBe(200);
    await page.getByRole("button", { name: "Show 1000 more of 10000" }).click();
    expect(await rows.count()).toBe(1200);
    await page.getByRole("searchbox").fill("before 7777");
    await count.getByText("1 of 10000 changes listed", { exact: true }).waitFor();
    expect(await rows.count()).toBe(1);
    await page.getByLabel("Show", { exact: true }).selectOption("add");
    await count.getByText("0 of 10000 changes listed", { exact: true }).waitFor();
    await page.getByRole("searchbox").fill("");
    await count.getByText("3333 of 10000 changes listed", { exact: true }).waitFor();
  }));

test("a grid has the table's columns: old and new beside each other, the key in sight, unchanged ones on request", () =>
  opened(report(9), "light", async (page) => {
    const grid = page.getByRole("region", { name: "Rows of cities" });
    expect(await grid.getByRole("columnheader").allTextContents()).toEqual(["Row", "Change", "Name", "Where"]);
    const changed = grid.getByRole("row", { name: "K4" });
    expect(await changed.locator("th, td").allTextContents()).toEqual([
      "~K4",
      "changed",
      "before 4 → after 4",
      "data.csv:6",
    ]);
    // More than a colour: a sign, a word, and how the value is written.
    expect(await grid.getByRole("row", { name: "K0" }).locator("th, td").nth(1).textContent()).toBe("removed");
    await page.getByRole("button", { name: "Show 2 unchanged columns" }).click();
    expect(await grid.getByRole("columnheader").allTextContents()).toEqual([
      "Row",
      "Change",
      "Name",
      "Area",
      "Size",
      "Where",
    ]);
    expect(await changed.locator("td").nth(2).textContent()).toBe("area 4");
    const key = changed.locator("th");
    const left = async (): Promise<number | undefined> => (await key.boundingBox())?.x;
    const before = await left();
    await page.evaluate(
      `const box = document.querySelector(".grid"); box.style.width = "12rem"; box.scrollLeft = 100;`,
    );
    expect(await left()).toBe(before);
    await page.getByRole("button", { name: "Fold 2 unchanged columns" }).click();
    expect(await grid.getByRole("columnheader").count()).toBe(4);
  }));

test("counts stand on top as a matrix, and what a reviewer must have looked at as a list to tick", () =>
  opened(report(9), "light", async (page) => {
    const matrix = page.locator("table.matrix");
    expect(await matrix.getByRole("row").nth(1).locator("th, td").allTextContents()).toEqual([
      "prod",
      "~1",
      "",
      "−1 ~1 +1",
      "not compared",
      "2",
    ]);
    const boxes = page.getByRole("checkbox");
    expect(await boxes.count()).toBe(3);
    await page.getByRole("checkbox", { name: "What goes" }).check();
    expect(await page.getByText("Where credentials go and what runs: endpoint changes").count()).toBe(1);
  }));

test("what is picked becomes the line that promotes it, and stays picked behind a filter", () =>
  opened(comparison(), "light", async (page) => {
    const command = page.getByLabel("Command");
    await page.getByRole("checkbox", { name: "Pick cities/K4" }).check();
    await page.getByRole("checkbox", { name: "Pick cities/it's K1" }).check();
    expect(await command.inputValue()).toBe("microapps promote dev prod --only cities/K4 'cities/it'\\''s K1'");
    await page.getByRole("searchbox").fill("before 4");
    await page.getByRole("searchbox").fill("");
    expect(await page.getByRole("checkbox", { name: "Pick cities/K4" }).isChecked()).toBe(true);
    await page.getByLabel("Promote from").selectOption("prod");
    await page.getByLabel("to", { exact: true }).selectOption("dev");
    await page.getByRole("checkbox", { name: "Pick cities", exact: true }).check();
    expect(await command.inputValue()).toBe("microapps promote prod dev --only cities");
    expect(await violationsOf(page)).toEqual([]);
  }));
