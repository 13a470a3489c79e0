import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { Project, repository, started } from "../harness/project.ts";

let project: Project;
let scripts: Map<string, string>;
beforeAll(async () => {
  project = await Project.running("", {});
  await project.write("Pulumi.prod.yaml", "{}");
  const printed = async (shell: string): Promise<string> => {
    const microapps = join(repository, "dist/bundle/microapps.js");
    return (await started([microapps, "completion", shell], project.folder, project.environment).ended).output;
  };
  const all = await Promise.all(["bash", "zsh", "fish"].map(async (shell) => [shell, await printed(shell)] as const));
  scripts = new Map(all);
});
afterAll(() => project.remove());

/** Completions of bash for the last of these words, in the project's folder. */
function offered(...words: string[]): string[] {
  const script = `${scripts.get("bash") ?? ""}
COMP_WORDS=(microapps "$@"); COMP_CWORD=$#
_microapps
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { status, stdout, stderr } = spawnSync("bash", ["--norc", "-c", script, "bash", ...words], {
    cwd: project.folder,
    encoding: "utf8",
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return stdout.split("\n").filter(Boolean);
}

test("bash completes commands, those below them, and what follows an alias", () => {
  expect(offered("st")).toEqual(["stack", "state"]);
  expect(offered("d")).toEqual(["destroy", "doctor", "dump", "drift"]);
  expect(offered("report", "--format", "")).toEqual(["md", "json", "text"]);
  expect(offered("stack", "")).toEqual(["init", "ls", "select", "output", "export", "rm"]);
  expect(offered("config", "s")).toEqual(["set"]);
  expect(offered("completion", "")).toEqual(["bash", "zsh", "fish"]);
});

test("and options of the command, without those that are refused", () => {
  expect(offered("up", "--y")).toEqual(["--yes"]);
  expect(offered("up", "--tar")).toEqual([]);
  expect(offered("stack", "init", "--no")).toEqual(["--no-select", "--non-interactive"]);
});

test("and values: stacks of this folder, fixed words, files", () => {
  expect(offered("up", "--stack", "")).toEqual(["dev", "prod"]);
  expect(offered("up", "-s", "p")).toEqual(["prod"]);
  expect(offered("stack", "select", "")).toEqual(["dev", "prod"]);
  expect(offered("dump", "out", "--import", "p")).toEqual(["plugin"]);
  expect(offered("stack", "export", "--file", "index")).toEqual(["index.js"]);
  // The value of an option is no command.
  expect(offered("-s", "dev", "stack", "se")).toEqual(["select"]);
});

test("zsh and fish have the same words", () => {
  expect(scripts.get("zsh")).toMatch(/^#compdef microapps\n/);
  expect(scripts.get("zsh")).toContain("'stack select') bare=()");
  expect(scripts.get("zsh")).toContain("'select:choose the stack that commands work on'");
  expect(scripts.get("fish")).toContain(
    `complete -c microapps -n 'test (__microapps_place) = "stack"' -f -a select -d 'choose the stack that commands work on'`,
  );
});
