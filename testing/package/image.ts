import { expect } from "@jest/globals";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { createClient } from "../../platform/client/index.ts";
import { repository } from "../harness/project.ts";

const execute = promisify(execFile);

/** Instructions of the Dockerfile with what follows them, in their order. */
export const instructionsOf = (): { name: string; rest: string }[] => {
  const text = readFileSync(join(repository, "emulator/Dockerfile"), "utf8");
  return [...text.matchAll(/^([A-Z]+) (.+)$/gm)].map(([, name = "", rest = ""]) => ({ name, rest }));
};

/** The list that an instruction has in JSON. */
export const listIn = (text = ""): string[] => JSON.parse(/\[.*\]/.exec(text)?.[0] ?? "[]") as string[];

/** Puts the packed package and the Dockerfile into a folder; returns the package's path in the image. */
export async function packForImage(folder: string): Promise<string> {
  const words = ["pack", "--ignore-scripts", "--pack-destination", folder];
  const { stdout } = await execute("npm", words, { cwd: repository });
  await cp(join(repository, "emulator/Dockerfile"), join(folder, "Dockerfile"));
  return `/packages/${stdout.trim().split("\n").at(-1) ?? ""}`;
}

const password = "of-this-test";
const token = "token-of-this-test";

/** Environment of a container that other machines administrate. */
export const environment = {
  MICROAPPS_EMULATOR_PASSWORD: password,
  MICROAPPS_EMULATOR_TOKEN: token,
  MICROAPPS_EMULATOR_ALLOW_ADMIN: "true",
};

/** Uses a container as somebody's CI does: by its administrator, and with an instance for one test. */
export async function useContainer(endpoint: string): Promise<void> {
  const client = createClient({ endpoint, email: "admin@example.com", password });
  await client.insertorganization({ organizationInfo: { name: "Acme" } });
  await client.close();
  const headers = { authorization: `Bearer ${token}` };
  const made = await fetch(`${endpoint}/_emulator/instances`, { method: "POST", headers });
  const { address } = (await made.json()) as { address: string };
  expect([made.status, address.startsWith(endpoint)]).toEqual([200, true]);
  const test = createClient({ endpoint: address, email: "admin@example.com", password });
  await test.insertorganization({ organizationInfo: { name: "Of one test" } });
  await test.close();
  const refused = await fetch(`${endpoint}/_emulator/reset`, { method: "POST" });
  expect(refused.status).toBe(403);
  expect(await namesIn(endpoint)).toEqual(["Acme"]);
}

/** Names of the organizations that a container has. */
export async function namesIn(endpoint: string): Promise<string[]> {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${endpoint}/_emulator/organizations`, { headers });
  const { organizations } = (await answer.json()) as { organizations: { name: string }[] };
  return organizations.map(({ name }) => name);
}
