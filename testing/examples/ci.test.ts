import { expect, test } from "@jest/globals";
import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { repository } from "../harness/project.ts";
import { ciProject } from "./ciProject.ts";

test("the example for jest runs in a project that has it", async () => {
  const folder = await ciProject();
  const jest = join(repository, "node_modules/jest/bin/jest.js");
  const { stderr } = await promisify(execFile)(
    process.execPath,
    ["--experimental-vm-modules", "--no-warnings", jest, "--rootDir", folder, "jest.test.js"],
    { cwd: folder, env: { ...process.env, NODE_OPTIONS: "" } },
  );
  expect(stderr).toContain("3 passed, 3 total");
  await rm(folder, { recursive: true });
});
