import path from "node:path";
import { EngineError } from "../errors.ts";
import { encodeDeployment, formatOf } from "../state/checkpoint.ts";
import { backendFolder, FileBackend } from "../state/fileBackend.ts";
import { isName, nameRule } from "../state/fileBackend.ts";
import { findProject, readProject } from "./project.ts";
import { currentBackend } from "./pulumiHome.ts";
import { Workspace } from "./workspace.ts";

/** The folder of Pulumi.yaml, which is searched from a folder upwards. Nothing is opened or made. */
export const projectFolder = (cwd: string): string => path.dirname(findProject(cwd));

/**
 * The text of a stack's state as it lies in the file backend, secrets encrypted; undefined where there is no such stack.
 * No passphrase, no lock, and nothing is written.
 */
export async function stateAtRest(
  cwd: string,
  stack: string,
  environment: NodeJS.ProcessEnv,
): Promise<string | undefined> {
  const project = readProject(findProject(cwd));
  if (!isName(stack)) throw new EngineError(`'${stack}' is not the name of a stack: ${nameRule}`);
  const url = environment["PULUMI_BACKEND_URL"] || project.backendUrl || currentBackend(environment);
  if (url === undefined) throw new EngineError("no state backend is configured");
  return new FileBackend(backendFolder(url, cwd)).read(project.name, stack);
}

/** The state of a stack as `stack export --show-secrets` prints it. Nothing is locked or written. */
export async function stateInClear(
  cwd: string,
  stack: string | undefined,
  environment: NodeJS.ProcessEnv,
): Promise<{ stack: string; text: string }> {
  const opened = await (await Workspace.open({ cwd, environment })).stack(stack);
  const deployment = await opened.read();
  const state = encodeDeployment(deployment, (_, plaintext) => ({ plaintext }), opened.crypter.salt, new Date(0));
  return { stack: opened.name, text: JSON.stringify({ ...formatOf(deployment), deployment: state }) };
}
