import { expect, test } from "@jest/globals";
import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { ciProject, installBeside } from "./ciProject.ts";

const execute = promisify(execFile);

test("the example for Playwright: an app in a browser, against the emulator", async () => {
  const folder = await ciProject();
  try {
    await installBeside(folder, "@playwright/test@1");
    const { stdout } = await execute(
      process.execPath,
      [join(folder, "node_modules/@playwright/test/cli.js"), "test", "playwright.spec.js"],
      { cwd: folder, env: { ...process.env, NODE_OPTIONS: "", JEST_WORKER_ID: undefined } }, // else it refuses to run within jest
    );
    expect(stdout).toContain("1 passed");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
