import { expect, test } from "@jest/globals";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { temporaryFolder } from "../../testing/harness/folders.ts";
import { writeDurably } from "./atomicWrite.ts";

test.each([10, 100_000])("%d bytes replace a file, also where a killed process has left its own", async (length) => {
  const folder = temporaryFolder();
  const file = path.join(folder, "dev.json");
  writeFileSync(file, "before");
  writeFileSync(path.join(folder, `.dev.json.${process.pid}.tmp`), "half");
  await writeDurably(file, [Buffer.from("a".repeat(length)), Buffer.from("b")]);
  expect(readFileSync(file, "utf8")).toBe(`${"a".repeat(length)}b`);
  expect(readdirSync(folder)).toEqual(["dev.json"]);
});
