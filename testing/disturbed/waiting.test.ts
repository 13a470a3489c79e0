import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { createEmulator, type Emulator } from "../../emulator/index.ts";
import { endedCleanly } from "../harness/endedCleanly.ts";
import { childrenOf, eventually, leftRunning } from "../harness/processes.ts";
import { Project } from "../harness/project.ts";

// What a program's process is given, and how it ends.

const program = `
import * as pulumi from "@pulumi/pulumi";
import { existsSync, readFileSync } from "node:fs";

const seen = "/proc/self/environ";
console.log("clear:", existsSync(seen) && readFileSync(seen, "utf8").includes("hunter2"));
console.log("text:", JSON.stringify(new pulumi.Config().require("text")));
`;
const text = 'two lines\n"and" a snowman \u2603';

let project: Project;
let emulator: Emulator;
beforeEach(async () => {
  emulator = await createEmulator();
  const settings = { runtime: { name: "nodejs", options: { typescript: false, nodeargs: "--import ./early.mjs" } } };
  project = await Project.running(program, { "tests:text": text, "tests:password": "hunter2" }, settings);
  await project.write("early.mjs", 'console.log("early", process.argv.length);');
  await project.succeed("stack init dev");
});
afterEach(() => endedCleanly(project, emulator));

test("the program gets the configuration, which no other process can look up", async () => {
  const { status, output } = await project.start("preview").ended;
  expect(output).toMatch(/early \d/);
  expect(output).toContain(`text: ${JSON.stringify(text)}`);
  expect(output).toContain("clear: false");
  expect(status).toBe(0);
});

test("of a run that is refused nothing is left", async () => {
  project.environment["PULUMI_CONFIG_PASSPHRASE"] = "another";
  for (const run of [() => project.start("preview").ended, () => project.run("preview")]) {
    const { status, output } = await run();
    expect([status, output]).toEqual([1, expect.stringContaining("incorrect passphrase")]);
    expect(await leftRunning(project.folder)).toEqual([]);
  }
});

test("it ends with an engine that is killed", async () => {
  const preview = project.start("preview");
  await eventually("the program's process", () =>
    childrenOf(preview.pid).find((command) => command.includes("/cmd/run")),
  );
  process.kill(preview.pid, "SIGKILL");
  await preview.ended;
  expect(await leftRunning(project.folder)).toEqual([]);
});

test("one that can't start is reported as ever", async () => {
  await project.write("early.mjs", 'throw new Error("not this time");');
  const { status, output } = await project.start("preview").ended;
  expect(output).toContain("not this time");
  expect(output).toContain("the program exited with code 1");
  expect(status).toBe(1);
});
