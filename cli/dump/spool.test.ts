import { expect, test } from "@jest/globals";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Spool } from "./tables.ts";

test("what is put aside has no name, so that no kill leaves it behind", () => {
  const folder = mkdtempSync(join(tmpdir(), "microapps-spool-"));
  const spool = new Spool(join(folder, "spool"));
  try {
    spool.add("one");
    spool.add("zwei é");
    expect([spool.get(1), spool.get(0)]).toEqual(["zwei é", "one"]);
    if (process.platform !== "win32") expect(readdirSync(folder)).toEqual([]);
  } finally {
    spool.remove();
    expect(readdirSync(folder)).toEqual([]);
    rmSync(folder, { recursive: true });
  }
});
