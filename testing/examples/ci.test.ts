import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { execFile } from "node:child_process";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { repository } from "../harness/project.ts";
import { ciExamples, ciProject } from "./ciProject.ts";

let folder: string;
beforeEach(async () => void (folder = await ciProject()));
afterEach(() => rm(folder, { recursive: true, force: true }));

test("the example for jest runs in a project that has it", async () => {
  const jest = join(repository, "node_modules/jest/bin/jest.js");
  const { stderr } = await promisify(execFile)(
    process.execPath,
    ["--experimental-vm-modules", "--no-warnings", jest, "--rootDir", folder, "jest.test.js"],
    { cwd: folder, env: { ...process.env, NODE_OPTIONS: "" } },
  );
  expect(stderr).toContain("3 passed, 3 total");
});

test("each has at most 30 lines", async () => {
  const files = (await readdir(ciExamples)).filter((name) => !/\.(yaml|md)$/.test(name));
  expect(files.sort()).toEqual([
    "app.html",
    "jest.test.js",
    "playwright.spec.js",
    "test_platform.py",
    "testcontainers.test.mjs",
    "vitest.test.js",
  ]);
  for (const file of files) {
    const lines = (await readFile(join(ciExamples, file), "utf8")).trimEnd().split("\n");
    expect([file, lines.length <= 30]).toEqual([file, true]);
  }
});
