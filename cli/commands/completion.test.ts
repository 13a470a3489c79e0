import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { spawnSync } from "node:child_process";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runCommand } from "../../testing/harness/commands.ts";
import { environmentOf, Project, repository } from "../../testing/harness/project.ts";

let project: Project;
beforeAll(async () => {
  project = await Project.running("", {});
  await project.write("Pulumi.prod.yaml", "{}");
});
afterAll(() => project.remove());

const completed = async (...words: string[]): Promise<string> => {
  const environment = environmentOf(project.environment);
  return (await runCommand({ words: ["completion", ...words], folder: project.folder, environment })).output;
};

test("commands, options and values are completed; of what is not known shells offer files", async () => {
  const offered = async (...words: string[]) => (await completed("bash", "--", ...words)).split("\n").filter(Boolean);
  expect(await offered("st")).toEqual(["stack", "state"]);
  expect(await offered("stack", "")).toEqual(["init", "ls", "select", "output", "export", "rm"]);
  expect(await offered("up", "--y")).toEqual(["--yes"]);
  expect(await offered("up", "--tar")).toEqual([]); // which is refused
  expect(await offered("report", "--format", "j")).toEqual(["json"]);
  expect(await offered("up", "-s", "")).toEqual(["dev", "prod"]);
  expect(await offered("stack", "select", "p")).toEqual(["prod"]);
  expect(await offered("-s", "stack", "sta")).toEqual(["stack", "state"]); // the value of an option is no command
  expect(await offered("stack", "export", "--file", "index")).toEqual([]);
});

test("bash asks for them", async () => {
  const executable = join(project.folder, "bin/microapps");
  await mkdir(join(project.folder, "bin"));
  const words = [process.execPath, "--no-warnings", join(repository, "dist/bundle/microapps.js")];
  await writeFile(executable, `#!/bin/sh\nexec ${words.map((word) => `'${word}'`).join(" ")} "$@"\n`);
  await chmod(executable, 0o755);
  const script = `${await completed("bash")}
COMP_WORDS=(microapps stack select ""); COMP_CWORD=3; _microapps; printf '%s ' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync("bash", ["--norc", "-c", script], {
    cwd: project.folder,
    env: { ...project.environment, PATH: `${join(project.folder, "bin")}:${process.env["PATH"] ?? ""}` },
    encoding: "utf8",
  });
  expect([stdout, stderr]).toEqual(["dev prod ", ""]);
});

test.each([
  ["zsh", /^#compdef microapps\n/, "select:select the stack that commands use\n"],
  ["fish", /^function __microapps\n/, "select\tselect the stack that commands use\n"],
])("%s has its script, and the same words with descriptions", async (shell, script, words) => {
  expect(await completed(shell)).toMatch(script);
  expect(await completed(shell, "--", "stack", "sel")).toBe(words);
});
