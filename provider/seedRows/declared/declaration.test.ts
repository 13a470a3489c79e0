import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { summarize } from "./declaration.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "microapps-declaration-"));
  const rows = (count: number): string => Array.from({ length: count }, (_, at) => `K${at},Name ${at}\n`).join("");
  await writeFile(join(folder, "large.csv"), `Code,Name\n${rows(60_000)}`);
  await writeFile(join(folder, "small.csv"), `Code,Name\n${rows(10)}`);
});
afterAll(() => rm(folder, { recursive: true }));

/** The names of the files in the order in which they are digested; mistakes end one as well. */
async function ends(...names: string[]): Promise<string[]> {
  const ended: string[] = [];
  const digest = (name: string) =>
    summarize({ key: ["Code"], source: `${name}.csv` }, folder)
      .catch(() => undefined)
      .finally(() => ended.push(name));
  await Promise.all(names.map(digest));
  return ended;
}

test("two files are digested at a time: a third one waits, and small ones pass a large one", async () => {
  expect(await ends("large", "absent", "small")).toEqual(["absent", "small", "large"]);
  expect((await ends("large", "large", "small")).indexOf("small")).toBeGreaterThan(0);
});
