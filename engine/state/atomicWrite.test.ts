import { expect, test } from "@jest/globals";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { writeDurably } from "./atomicWrite.ts";

test.each([10, 100_000])("%d bytes replace a file, also where a killed process has left its own", async (length) => {
  const folder = mkdtempSync(path.join(os.tmpdir(), "write-"));
  try {
    const file = path.join(folder, "dev.json");
    writeFileSync(file, "before");
    writeFileSync(path.join(folder, `.dev.json.${process.pid}.tmp`), "half");
    await writeDurably(file, [Buffer.from("a".repeat(length)), Buffer.from("b")]);
    expect(readFileSync(file, "utf8")).toBe(`${"a".repeat(length)}b`);
    expect(readdirSync(folder)).toEqual(["dev.json"]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
