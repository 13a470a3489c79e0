import { EngineError, oneLine } from "../../../engine/index.ts";
import { originOf } from "../../../provider/pulumi/configuration/origins.ts";
import { environmentsFile, type EnvironmentEntry } from "../../changes/base/environments.ts";

export type Engine = "pulumi" | "embedded";

/** The Pulumi CLI that pipelines install, unless `ci` is called with another. */
export const pulumiVersion = "3.260.0";

/** The properties of a project's pipelines. */
export interface Pipelines {
  /** In an order in which they can be applied. */
  environments: readonly PipelineEnvironment[];
  engine: Engine;
  /** The branch that is applied. */
  branch: string;
  /** Folder of Pulumi.yaml in the repository; empty at its top. */
  folder: string;
  /** Version of the Pulumi CLI, and the SHA-256 of its archive for Linux on x64; undefined where nobody named it. */
  version: string;
  digest?: string | undefined;
  /** The command line that writes them. */
  command: string;
}

/** An environment as pipelines see it. */
export interface PipelineEnvironment {
  name: string;
  stack: string;
  /** Its name in the names of jobs. */
  job: string;
  /** Names of the jobs that come first. */
  after: readonly string[];
  endpoint: string;
  /** The origin that its credential may go to. */
  origin: string;
}

/** Environments in the order of `after:`; what can't be carried out is refused. */
export function inOrder(entries: readonly EnvironmentEntry[]): PipelineEnvironment[] {
  if (entries.length === 0) throw problem("it lists nothing");
  const jobs = new Map<string, string>();
  for (const { name } of entries) {
    const job = jobOf(name);
    const other = [...jobs].find(([, each]) => each === job)?.[0];
    if (other !== undefined) throw problem(`${other} and ${name} would be one job: rename one`);
    jobs.set(name, job);
  }
  const ordered: PipelineEnvironment[] = [];
  const isDone = (name: string): boolean => ordered.some((each) => each.name === name);
  for (let waiting = entries; waiting.length > 0;) {
    const next = waiting.find(({ after }) => after.every(isDone));
    if (!next) throw problem(circleOrMissing(waiting, jobs));
    ordered.push(described(next));
    waiting = waiting.filter((each) => each !== next);
  }
  return ordered;
}

const problem = (text: string): EngineError => new EngineError(`${environmentsFile}: ${oneLine(text)}`);

/** Jobs have no dots in their names. */
const jobOf = (name: string): string => name.replaceAll(".", "_");

function circleOrMissing(waiting: readonly EnvironmentEntry[], known: ReadonlyMap<string, string>): string {
  for (const { name, after } of waiting) {
    const missing = after.find((each) => !known.has(each));
    if (missing !== undefined) return `${name} comes after ${missing}, which it does not list`;
  }
  return `${waiting.map(({ name }) => name).join(", ")} wait for each other: leave out one after`;
}

function described({ name, stack, endpoint, after }: EnvironmentEntry): PipelineEnvironment {
  if (endpoint === undefined) throw problem(`${name} has no endpoint: its credential goes there, and nowhere else`);
  const origin = originOf(endpoint);
  if (origin === undefined) throw problem(`${name}.endpoint is no address of a platform`);
  for (const text of [stack, endpoint]) {
    // Quotes, dollars and braces would have a meaning in a pipeline or in its shell.
    if (!/^[\w.:/?=&%@+~,[\]-]*$/.test(text)) throw problem(`${JSON.stringify(text)} can't stand in a pipeline`);
  }
  return { name, stack, job: jobOf(name), after: after.map(jobOf), endpoint, origin };
}
