import { expect, test } from "@jest/globals";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Use } from "./used.ts";

test("an approval is used by one run; where that can't be noted, by none", () => {
  const home = mkdtempSync(join(tmpdir(), "microapps-approvals-"));
  const before = process.env["XDG_STATE_HOME"];
  process.env["XDG_STATE_HOME"] = home;
  try {
    const use = new Use("one");
    expect([use.isUsed(), use.begin("first run"), use.begin("first run"), use.begin("second run")]).toEqual([
      ...[false, true, true, false],
    ]);
    expect(use.isUsed()).toBe(true);
    const folder = join(home, "pulumi-microapps/approvals");
    const [name = ""] = readdirSync(folder);
    rmSync(join(folder, name));
    rmSync(folder, { recursive: true });
    symlinkSync(folder, folder);
    expect(() => use.begin("third run")).toThrow("the approval was not used: its use can't be noted in");
    rmSync(folder);
    mkdirSync(folder, { mode: 0o700 });
    expect(use.begin("third run")).toBe(true);
  } finally {
    if (before === undefined) delete process.env["XDG_STATE_HOME"];
    else process.env["XDG_STATE_HOME"] = before;
    rmSync(home, { recursive: true });
  }
});
