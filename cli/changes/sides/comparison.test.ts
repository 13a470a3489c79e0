import { afterAll, expect, test } from "@jest/globals";
import { render } from "../rendering/render.ts";
import { Folders } from "../testing/twoFolders.ts";
import { compareContents, toComparison } from "./comparison.ts";
import { parseSide, readDumpSide, readFilesSide } from "./sides.ts";

const folders = new Folders();
afterAll(() => folders.remove());

const rows = (from: number): string =>
  ["Code,Name", ...Array.from({ length: 20 }, (_, at) => `C${from + at},Name ${from + at}`), ""].join("\n");
const seed = (settings: string): string =>
  `seeds: { places: { table: places, key: Code, source: rows.csv${settings} } }\n`;

test("no guard or mode of either side hides a difference; where these differ they are settings", async () => {
  const from = folders.declared({ "env.yaml": seed(", mode: insertOnly, maxRemovals: 0.1"), "rows.csv": rows(0) });
  const to = folders.declared({ "env.yaml": seed(", maxRemovals: 0.2"), "rows.csv": rows(15) });
  const { things } = await compareContents(from, to);
  expect(things).toMatchObject([{ name: "places", rows: { add: 15, remove: 15, same: 5 }, guards: [] }]);
  const settings = things[0]?.changes.flatMap(({ kind, name }) => (kind === "setting" ? [name] : []));
  expect(settings?.sort()).toEqual(["maxRemovals", "mode"]);
});

test("the same on both sides differs in nothing, in every format", async () => {
  const one = folders.declared({ "env.yaml": seed(""), "rows.csv": rows(0) });
  const section = await compareContents(one, one);
  expect(section).toMatchObject({ compared: true, things: [] });
  const set = toComparison("dev", "prod", section);
  expect(render(set, "text")).toBe("dev → prod\n  nothing differs\n");
  expect(render(set, "md")).toContain("Nothing differs");
});

test("dump: is what a dump wrote into a folder; another folder is refused by its name", async () => {
  const written = folders.make({ "old/environment.yaml": seed(""), "old/rows.csv": rows(0), "empty/notes.txt": "" });
  const dumped = readDumpSide(written, "old");
  const { things } = await compareContents(
    dumped.declared,
    folders.declared({ "env.yaml": seed(""), "rows.csv": rows(2) }),
  );
  expect(things).toMatchObject([{ name: "places", rows: { add: 2, remove: 2, same: 18 } }]);
  expect(() => readDumpSide(written, "empty")).toThrow("empty is no dump: there is no environment.yaml in it");
});

test("sides are read from their names, and what is none is refused with the forms", async () => {
  expect(["dev", "dev@HEAD~2", "live:dev", "dump:old/dump", "snapshot:a.json"].map(parseSide)).toEqual([
    { kind: "files", environment: "dev" },
    { kind: "files", environment: "dev", commit: "HEAD~2" },
    { kind: "live", environment: "dev" },
    { kind: "dump", folder: "old/dump" },
    { kind: "snapshot", file: "a.json" },
  ]);
  for (const wrong of ["", "@HEAD", "dev@", "live:"])
    expect(() => parseSide(wrong)).toThrow(/is no side|names nothing/);
  const folder = folders.make({ "environments.yaml": "dev: { file: dev.yaml }\n", "dev.yaml": "organizations: {}\n" });
  await expect(readFilesSide(folder, "prod")).rejects.toThrow("environments.yaml does not list prod; there is dev");
});
