import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { repository } from "../harness/project.ts";
import { ciProject, installBeside } from "./ciProject.ts";

// The examples for CI whose tools this repository does not have: a registry has them.

const execute = promisify(execFile);
const command = join(repository, "dist/bundle/microapps.js");
let folder: string;

beforeAll(async () => {
  folder = await ciProject();
  await installBeside(folder, "vitest@4", "testcontainers@11");
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("vitest", async () => {
  const { stdout } = await execute(join(folder, "node_modules/.bin/vitest"), ["run", "vitest.test.js"], {
    cwd: folder,
  });
  expect(stdout).toContain("3 passed");
});

test("pytest, in an environment of its own", async () => {
  await execute("python3", ["-m", "venv", "python"], { cwd: folder });
  const bin = join(folder, "python/bin");
  await execute(join(bin, "pip"), ["install", "--quiet", "--disable-pip-version-check", "pytest"], { cwd: folder });
  const { stdout } = await execute(
    process.execPath,
    ["--no-warnings", command, "emulator", "exec", "--seed", "platform.yaml", "--", "pytest", "-q", "test_platform.py"],
    { cwd: folder, env: { ...process.env, PATH: `${bin}${delimiter}${process.env["PATH"] ?? ""}` } },
  );
  expect(stdout).toContain("2 passed");
});

test("testcontainers: its types", async () => {
  const flags = ["--noEmit", "--allowJs", "--checkJs", "--strict", "--skipLibCheck", "--target", "es2024"];
  const modules = ["--module", "nodenext", "--types", "node", "--typeRoots", join(repository, "node_modules/@types")];
  const tsc = join(repository, "node_modules/typescript/bin/tsc");
  await execute(tsc, [...flags, ...modules, "testcontainers.test.mjs"], { cwd: folder });
});
