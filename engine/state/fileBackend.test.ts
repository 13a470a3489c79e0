import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Sandbox } from "../testing/sandbox.ts";
import { readProject } from "../workspace/project.ts";
import { FileBackend } from "./fileBackend.ts";

let sandbox: Sandbox;
let victim: string;
beforeEach(() => {
  sandbox = new Sandbox();
  victim = path.join(sandbox.folder, "victim");
  mkdirSync(victim);
  writeFileSync(path.join(victim, "kept.json"), "{}");
});
afterEach(() => {
  expect(readdirSync(victim)).toEqual(["kept.json"]);
  sandbox.remove();
});

const outside = ["../../../victim", "..", ".", ".hidden", "a/b", "a\\b", "a\0b", "ü", " a", "", "x".repeat(101)];

test.each(outside)("%j is the name of no project", (name) => {
  const file = path.join(sandbox.project, "Pulumi.yaml");
  writeFileSync(file, JSON.stringify({ name, runtime: "nodejs" }));
  expect(() => readProject(file)).toThrow(name === "" ? "'name' is missing" : "is not the name of a project");
});

test.each(["crew", "a.b", "-", "_", "My-Project_2.0", "x".repeat(100)])("%j is one", (name) => {
  const file = path.join(sandbox.project, "Pulumi.yaml");
  writeFileSync(file, JSON.stringify({ name, runtime: "nodejs" }));
  expect(readProject(file).name).toBe(name);
});

test.each(outside.filter((name) => name !== ""))("%j is the name of no stack", async (name) => {
  const workspace = await sandbox.workspace();
  expect(() => workspace.stackName(name)).toThrow("is not the name of a stack");
});

test("the backend refuses what leads out of its folder, whoever asks", async () => {
  const backend = new FileBackend(path.join(sandbox.folder, "state"));
  await backend.open();
  const refused = "this leads out of";
  await expect(backend.remove("../../../victim", "kept")).rejects.toThrow(refused);
  await expect(backend.remove("spike", "../../../..")).rejects.toThrow(refused);
  await expect(backend.read("../../../victim", "kept")).rejects.toThrow(refused);
  await expect(backend.write("../../../victim", "kept", [])).rejects.toThrow(refused);
  await expect(backend.stacks("../../victim")).rejects.toThrow(refused);
  expect(() => backend.lockFolder("..", "../../../victim")).toThrow(refused);
});

test("so it does where a link leads out, also one to what is not there yet", async () => {
  const backend = new FileBackend(path.join(sandbox.folder, "state"));
  await backend.open();
  const state = path.join(sandbox.folder, "state/.pulumi");
  symlinkSync(victim, path.join(state, "stacks/spike"));
  symlinkSync(path.join(victim, "kept.json"), path.join(state, "stacks/linked.json"));
  symlinkSync(path.join(victim, "made"), path.join(state, "locks"));
  const refused = "this leads out of";
  await expect(backend.read("spike", "kept")).rejects.toThrow(refused);
  await expect(backend.write("spike", "kept", [])).rejects.toThrow(refused);
  await expect(backend.stacks("spike")).rejects.toThrow(refused);
  await expect(backend.remove("spike", "kept")).rejects.toThrow(refused);
  expect(() => backend.lockFolder("spike", "dev")).toThrow(refused);
});

test("a folder of state that is itself behind a link is as good as any", async () => {
  const real = path.join(sandbox.folder, "elsewhere");
  mkdirSync(real);
  mkdirSync(path.join(sandbox.folder, "linked"));
  symlinkSync(real, path.join(sandbox.folder, "linked/.pulumi"));
  const backend = new FileBackend(path.join(sandbox.folder, "linked"));
  await backend.open();
  await backend.write("spike", "dev", [Buffer.from("state")]);
  expect(existsSync(path.join(real, "stacks/spike/dev.json"))).toBe(true);
  expect(await backend.read("spike", "dev")).toBe("state");
});
