import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { promisify } from "node:util";
import { ciProject, installBeside } from "../examples/ciProject.ts";
import { freshFolder } from "../harness/project.ts";
import { environment, packForImage, useContainer } from "./image.ts";

// `make test-docker`: the container with the packed package in it, as somebody's CI runs it.

const execute = promisify(execFile);
const docker = async (...parameters: string[]): Promise<string> => (await execute("docker", parameters)).stdout.trim();
let folder: string;
let container: string | undefined;

beforeAll(async () => {
  folder = await freshFolder();
  const archive = await packForImage(folder);
  await docker("build", "--quiet", "--tag", "microapps-emulator", "--build-arg", `PACKAGE=${archive}`, folder);
});
afterAll(async () => {
  if (container !== undefined) await docker("rm", "--force", "--volumes", container);
  await rm(folder, { recursive: true, force: true });
});

test("it becomes healthy and serves its administrator, and not as root", async () => {
  const variables = Object.entries(environment).flatMap(([name, value]) => ["--env", `${name}=${value}`]);
  container = await docker("run", "--detach", "--publish", "127.0.0.1::8080", ...variables, "microapps-emulator");
  await execute("timeout", [
    "60",
    "sh",
    "-c",
    `until [ "$(docker inspect -f '{{.State.Health.Status}}' ${container})" = healthy ]; do :; done`,
  ]);
  expect(await docker("exec", container, "id", "-un")).toBe("node");
  await useContainer(`http://${await docker("port", container, "8080")}`);
});

test("the example for testcontainers starts one from it", async () => {
  const project = await ciProject();
  try {
    await installBeside(project, "testcontainers@11");
    const example = ["--test", "testcontainers.test.mjs"];
    const { stdout } = await execute(process.execPath, example, {
      cwd: project,
      env: { ...process.env, NODE_OPTIONS: "" },
    });
    expect(stdout).toMatch(/pass 1\b/);
  } finally {
    await rm(project, { recursive: true, force: true });
  }
});
