import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createEmulator, type Emulator } from "../../emulator/index.ts";
import { temporaryFolder } from "../../testing/harness/folders.ts";
import { runOn, type Project } from "../../testing/harness/project.ts";
import { imported, projectOn } from "./testing/imported.ts";

const administrator = { email: "admin@example.com", password: "correct-horse", id: "own" };
const users = [
  { email: "ada@example.com", id: "ada-1" },
  { email: "grace@example.com", id: "grace-2" },
];
const crew = { name: "Crew", members: [{ email: "ada@example.com", role: "admin" }, { email: "grace@example.com" }] };
const organizations = [{ id: "acme", name: "Acme", teams: [{ ...crew, id: "crew" }] }];
const otherwise = { memberForm: "userIDs", memberAddress: "no" } as const;

let folder: string;
const open: { close?: () => Promise<void>; remove?: () => Promise<void> }[] = [];

beforeEach(() => void (folder = temporaryFolder()));
afterEach(async () => {
  for (const one of open.splice(0)) await (one.close ? one.close() : one.remove?.());
});

async function platformWith(more: object): Promise<Emulator> {
  const platform = await createEmulator({ seed: { administrator, users, ...more } });
  open.push(platform);
  platform.behave(otherwise);
  return platform;
}

/** Dumps teams into a folder; answers the warnings and the environment file. */
async function dump(platform: Emulator, where: string, ...teams: string[]): Promise<[string[], string]> {
  const words = ["dump", where, ...teams.flatMap((id) => ["--team", id]), "--import", "dynamic", "--json"];
  const { status, output } = await runOn(platform, administrator, folder, words);
  expect([status, output]).toEqual([0, expect.any(String)]);
  const { warnings } = JSON.parse(output) as { warnings: string[] };
  return [warnings, await readFile(join(folder, where, "environment.yaml"), "utf8")];
}

/** A project that runs a dumped environment on a platform. */
async function projectOf(text: string, platform: Emulator, hasProgram = true): Promise<Project> {
  const project = await projectOn(platform, administrator, hasProgram);
  open.push(project);
  await project.write("environment.yaml", text);
  await project.succeed("stack init dev");
  return project;
}

test("members whose addresses are not shown go by user ID: unchanged here, and made where they are known", async () => {
  const source = await platformWith({ organizations });
  const [warnings, text] = await dump(source, "one", "crew");
  expect(warnings).toEqual([
    'team "Crew": 2 members without an address that the platform shows: declared by user ID, which another platform does not know',
  ]);
  expect(text).toContain("        members:\n          ada-1: admin\n          grace-2: member\n");
  const here = await projectOf(text, source);
  await imported(here, await readFile(join(folder, "one/import.json"), "utf8"));
  expect(await here.steps("up", "--yes")).toEqual([]);

  const elsewhere = await platformWith({});
  const there = await projectOf(text, elsewhere, false);
  await there.succeed("up", "--yes");
  const made = [...(await there.state()).values()].filter(({ urn }) => urn.includes("index:Team::"));
  const [, again] = await dump(elsewhere, "two", ...made.map(({ id = "" }) => id));
  // Its creator is a member there as well.
  expect(again.replace("          own: admin\n", "")).toBe(text);
});
