import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import type { Project } from "../harness/project.ts";
import { restored, versions } from "./recorded.ts";

let project: Project;
let recorded: string;
beforeAll(async () => {
  project = await restored(versions().at(-1) ?? "", "dynamic");
  recorded = await project.stateText();
});
afterAll(() => project.remove());

const isUntouched = async () => expect(await project.stateText()).toBe(recorded);

test("another engine's lock is respected", async () => {
  const folder = join(project.folder, ".pulumi/locks/organization/released/dev");
  await mkdir(folder, { recursive: true });
  const owner = { pid: process.pid, username: "ada", hostname: hostname(), timestamp: "2026-01-01T00:00:00Z" };
  await writeFile(join(folder, "1.json"), JSON.stringify(owner));
  const { status, output } = await project.run("state door plugin");
  await rm(folder, { recursive: true });
  expect(output).toContain("the stack is currently locked by 1 lock(s)");
  expect(status).toBe(1);
  await isUntouched();
});

test("an interrupted run is to be finished first", async () => {
  const operation =
    '"pending_operations": [{ "type": "creating", "resource": { "urn": "urn:pulumi:dev::released::x::crew" } }],';
  await writeFile(project.stateFile, recorded.replace('"resources": [', `${operation} "resources": [`));
  const { status, output } = await project.run("state door plugin");
  await writeFile(project.stateFile, recorded);
  expect(output).toBe(
    "error: the stack 'dev' was left as it is: an interrupted run left operations in it (crew): run up first, which finishes them\n",
  );
  expect(status).toBe(1);
});

test("a kind that the stack has already is named, and is no failure", async () => {
  expect(await project.succeed("state door dynamic")).toBe(
    "the stack 'dev' is as dynamic resources already: nothing was changed\n",
  );
  await isUntouched();
});

test("a wrong kind, stack or file is told so", async () => {
  expect((await project.run("state provider-kind window")).output).toContain("Allowed choices are plugin, dynamic");
  expect((await project.run("state door plugin", "--stack", "prod")).output).toContain("no stack named 'prod' found");
  expect((await project.run("state door plugin --file none.json")).output).toContain("could not read none.json");
  await isUntouched();
});

test("a state that is no file is exported, changed and imported", async () => {
  project.environment["PULUMI_BACKEND_URL"] = "s3://states";
  const { output } = await project.run("state door plugin");
  delete project.environment["PULUMI_BACKEND_URL"];
  expect(output).toContain(
    "pulumi stack export --file state.json, microapps state provider-kind plugin --file state.json, pulumi stack import --file state.json",
  );
  const file = join(project.folder, "state.json");
  await project.succeed(`stack export --file ${file}`);
  const exported = await readFile(file, "utf8");
  expect(await project.succeed(`state door plugin --file ${file}`)).toContain("19 resources moved");
  expect(await readFile(file, "utf8")).not.toContain("pulumi-nodejs");
  expect(await readFile(`${file}.bak`, "utf8")).toBe(exported);
  await project.succeed(`state provider-kind dynamic --file ${file}`);
  expect(await readFile(file, "utf8")).toBe(exported);
});

test("what a state was before stays beside it, for its owner alone", async () => {
  await project.succeed("state door plugin");
  const before = `${project.stateFile}.bak`;
  expect(await readFile(before, "utf8")).toBe(recorded);
  expect((await stat(before)).mode & 0o077).toBe(0);
});
