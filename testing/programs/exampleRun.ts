import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { Client } from "../../platform/client/index.ts";
import { ApiError } from "../../platform/contract/wire.ts";
import { byHand } from "../harness/platform.ts";
import { executable, type Cli } from "./cli.ts";
import { nodeSdkFolder, writeNodeSdkProject } from "./nodeSdk.ts";

/** An example, and what it needs beside the CLI. */
export interface Example {
  name: string;
  language: "nodejs" | "yaml" | "python" | "go";
  /** Folder of Pulumi.yaml, from the root of the repository. */
  project: string;
  /** Folder of the program. */
  program: string;
  /** A team that it declares. */
  team: string;
  /** True when `pulumi install` makes an SDK for it. */
  installs: boolean;
  /** Writes what the repository does not have. @param root the copy of its examples */
  prepare?: (root: string, cli: Cli) => Promise<void>;
  /** True when a plain `up` sees manual changes: dynamic resources look in a refresh alone. */
  seesDrift: boolean;
}

const environment = { team: "Crew", seesDrift: true };
const plugin = (name: string, language: Example["language"]): Example => {
  const folder = `examples/${name}`;
  return { name, language, project: folder, program: folder, installs: language !== "yaml", ...environment };
};

export const examples: readonly Example[] = [
  {
    name: "environment",
    language: "nodejs",
    project: "examples/environment",
    program: "examples/environment",
    ...environment,
    installs: false,
    seesDrift: false,
  },
  {
    name: "organization",
    language: "nodejs",
    project: "examples/organization",
    program: "examples/organization",
    team: "Traders",
    installs: false,
    seesDrift: false,
  },
  { ...plugin("yaml", "yaml"), project: ".", program: "examples/environment" },
  plugin("yaml-resources", "yaml"),
  plugin("python", "python"),
  plugin("go", "go"),
  {
    name: "nodejs",
    language: "nodejs",
    project: nodeSdkFolder,
    program: nodeSdkFolder,
    installs: false,
    ...environment,
    prepare: writeNodeSdkProject,
  },
];

const runtimes = { nodejs: "node", yaml: undefined, python: "python3", go: "go" } as const;

/** Why an example can't run here, if it can't. */
export function obstacle({ language }: Example, cli: Cli): string | undefined {
  const runtime = runtimes[language];
  if (!cli.hasHost(language)) return `this Pulumi CLI comes without pulumi-language-${language}`;
  if (runtime !== undefined && !executable(runtime)) return `there is no ${runtime} on PATH`;
  return undefined;
}

/** Runs an example from nothing to nothing. @param root a copy of the repository's examples */
export async function runExample(example: Example, cli: Cli, root: string): Promise<void> {
  await example.prepare?.(root, cli);
  const project = join(root, example.project);
  const data = join(root, example.program, ".microapps/dev.db");
  const pulumi = (...args: string[]): Promise<string> => cli.succeed(project, ...args, "--stack", "dev");

  if (example.installs) await cli.succeed(project, "install");
  await cli.succeed(project, "stack", "init", "dev");
  await pulumi("up", "--yes", "--skip-preview");
  await pulumi("preview", "--expect-no-changes");

  const exported = join(project, "exported.json");
  await pulumi("stack", "export", "--file", exported);
  const teamID = teamIn(await readFile(exported, "utf8"), example.team);
  const teamInfo = { name: "By hand" };
  await byHand(data, (client) => client.updateteam({ teamID, teamInfo }));
  const repaired = await pulumi("up", "--yes", "--skip-preview", ...(example.seesDrift ? [] : ["--refresh"]));
  const name = await byHand(data, (client) => nameOf(client, teamID));
  if (name !== example.team)
    throw new Error(`up left a team called ${String(name)}, which was renamed by hand:\n${repaired}`);
  await pulumi("refresh", "--yes", "--skip-preview", "--expect-no-changes");

  await pulumi("destroy", "--yes", "--skip-preview");
  const left = await byHand(data, (client) => nameOf(client, teamID));
  if (left !== undefined) throw new Error(`destroy left the team ${left}`);
}

const deployment = z.object({
  deployment: z.object({
    resources: z.array(
      z.looseObject({ type: z.string(), id: z.string().optional(), outputs: z.looseObject({}).optional() }),
    ),
  }),
});

/** ID of the team of a name, in an exported state. */
function teamIn(exported: string, name: string): string {
  const { resources } = deployment.parse(JSON.parse(exported)).deployment;
  const team = resources.find(({ type, outputs }) => type.endsWith(":Team") && outputs?.["name"] === name);
  if (team?.id === undefined) throw new Error(`the state has no team ${name}`);
  return team.id;
}

/** The name of a team; undefined when it is gone. */
async function nameOf(client: Client, teamID: string): Promise<string | undefined> {
  try {
    return (await client.readteam({ teamID })).team?.name;
  } catch (error) {
    if (error instanceof ApiError && error.code === "notFound") return undefined;
    throw error;
  }
}
