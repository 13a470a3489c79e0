import { afterAll, expect, test } from "@jest/globals";
import { render } from "./rendering.ts";
import { compareContents, reportBetween } from "./report.ts";
import { Folders } from "./testing/twoFolders.ts";

const folders = new Folders();
afterAll(() => folders.remove());

const rows = (from: number): string =>
  ["Code,Name", ...Array.from({ length: 20 }, (_, at) => `C${from + at},Name ${from + at}`), ""].join("\n");
const seed = (settings: string, source = "rows.csv"): string =>
  `seeds: { places: { table: places, key: Code, source: ${source}${settings} } }\n`;

test("no guard or mode of either side hides a difference; where these differ they are settings", async () => {
  const from = folders.declared({ "env.yaml": seed(", mode: insertOnly, maxRemovals: 0.1"), "rows.csv": rows(0) });
  const to = folders.declared({ "env.yaml": seed(", maxRemovals: 0.2"), "rows.csv": rows(15) });
  const { things } = await compareContents(from, to);
  expect(things).toMatchObject([{ name: "places", rows: { add: 15, remove: 15, same: 5 }, guards: [] }]);
  const settings = things[0]?.changes.flatMap(({ kind, name }) => (kind === "setting" ? [name] : []));
  expect(settings?.sort()).toEqual(["maxRemovals", "mode"]);
});

test("environments by name or stack, or a file of its own; equal rows of two files are no difference", async () => {
  const folder = folders.make({
    "environments.yaml": "dev: { file: dev.yaml }\nprod: { stack: live, file: prod.yaml }\n",
    "dev.yaml": seed("", "dev.csv"),
    "prod.yaml": seed("", "prod.csv"),
    "dump/environment.yaml": seed("", "rows.csv"),
    "dev.csv": rows(0),
    "prod.csv": rows(0),
    "dump/rows.csv": rows(2),
  });
  const same = await reportBetween(folder, "dev", "live");
  expect(render(same, "text")).toBe("dev → live\n  nothing differs\n");
  expect(render(same, "md")).toContain("Nothing differs");
  const { environments } = await reportBetween(folder, "dump/environment.yaml", "dev");
  expect(environments[0]?.change.things).toMatchObject([{ name: "places", rows: { add: 2, remove: 2, same: 18 } }]);
  await expect(reportBetween(folder, "dev", "test")).rejects.toThrow("does not list test; there is dev, prod");
});
