import { afterAll, beforeAll, expect, jest, test } from "@jest/globals";
import { execFile } from "node:child_process";
import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { createClient } from "../../provider/client/index.ts";
import { freshFolder, repository } from "../harness/project.ts";

// `make test-docker`: the container with the packed package in it, as somebody's CI runs it.
jest.setTimeout(600_000);

const execute = promisify(execFile);
const docker = async (...parameters: string[]): Promise<string> => (await execute("docker", parameters)).stdout.trim();
const password = "of-this-test";
const token = "token-of-this-test";
let folder: string;
let container: string | undefined;

beforeAll(async () => {
  folder = await freshFolder();
  const { stdout } = await execute("npm", ["pack", "--ignore-scripts", "--pack-destination", folder], {
    cwd: repository,
  });
  const archive = `/packages/${stdout.trim().split("\n").at(-1) ?? ""}`;
  await cp(join(repository, "emulator/Dockerfile"), join(folder, "Dockerfile"));
  await docker("build", "--quiet", "--tag", "microapps-emulator", "--build-arg", `PACKAGE=${archive}`, folder);
});
afterAll(async () => {
  if (container !== undefined) await docker("rm", "--force", "--volumes", container);
  await rm(folder, { recursive: true, force: true });
});

test("it becomes healthy and serves its administrator, and not as root", async () => {
  const variables = { PASSWORD: password, TOKEN: token, ALLOW_ADMIN: "true" };
  const environment = Object.entries(variables).flatMap(([name, value]) => [
    "--env",
    `MICROAPPS_EMULATOR_${name}=${value}`,
  ]);
  container = await docker("run", "--detach", "--publish", "127.0.0.1::8080", ...environment, "microapps-emulator");
  await execute("timeout", [
    "60",
    "sh",
    "-c",
    `until [ "$(docker inspect -f '{{.State.Health.Status}}' ${container})" = healthy ]; do :; done`,
  ]);
  expect(await docker("exec", container, "id", "-un")).toBe("node");
  const endpoint = `http://${await docker("port", container, "8080")}`;
  const client = createClient({ endpoint, email: "admin@example.com", password });
  await client.insertorganization({ organizationInfo: { name: "Acme" } });
  await client.close();
  const headers = { authorization: `Bearer ${token}` };
  const made = await fetch(`${endpoint}/_emulator/instances`, { method: "POST", headers });
  expect([made.status, (await fetch(`${endpoint}/_emulator/reset`, { method: "POST" })).status]).toEqual([200, 403]);
});
