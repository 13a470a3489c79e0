import { createHash } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { writeDurably } from "../state/atomicWrite.ts";
import { isObject } from "../values/json.ts";

/** The folder of Pulumi's settings of the user: the current backend, the selected stacks. */
function home(environment: NodeJS.ProcessEnv): string {
  return environment["PULUMI_HOME"] || path.join(environment["HOME"] || os.homedir(), ".pulumi");
}

function readJson(file: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(readFileSync(file, "utf8"));
    return isObject(value) ? value : {};
  } catch {
    // Missing or broken, which is not ours to repair: nothing is selected.
    return {};
  }
}

/** Reads the backend of the last `pulumi login`. */
export function currentBackend(environment: NodeJS.ProcessEnv): string | undefined {
  const { current } = readJson(path.join(home(environment), "credentials.json"));
  return typeof current === "string" && current !== "" ? current : undefined;
}

function workspaceFile(project: string, projectFile: string, environment: NodeJS.ProcessEnv): string {
  const hash = createHash("sha1").update(projectFile).digest("hex");
  return path.join(home(environment), "workspaces", `${project}-${hash}-workspace.json`);
}

/** Reads the stack that `stack init` or `stack select` chose for this project. */
export function readSelectedStack(
  project: string,
  projectFile: string,
  environment: NodeJS.ProcessEnv,
): string | undefined {
  const { stack } = readJson(workspaceFile(project, projectFile, environment));
  return typeof stack === "string" && stack !== "" ? stack : undefined;
}

export async function selectStack(
  project: string,
  projectFile: string,
  environment: NodeJS.ProcessEnv,
  stack: string,
): Promise<void> {
  const file = workspaceFile(project, projectFile, environment);
  mkdirSync(path.dirname(file), { recursive: true });
  await writeDurably(file, [Buffer.from(JSON.stringify({ ...readJson(file), stack }))]);
}
