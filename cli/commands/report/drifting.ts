import { writeFileSync } from "node:fs";
import path from "node:path";
import { EngineError, projectFolder, stateInClear } from "../../../engine/index.ts";
import { messageOf } from "../../../machine/failures.ts";
import { ApiError } from "../../../platform/contract/wire.ts";
import { textIfAny } from "../../../provider/files/files.ts";
import { MemberLists } from "../../../provider/people/members.ts";
import { ConfigurationError, platformOf } from "../../../provider/pulumi/configuration.ts";
import { maskOf } from "../../../provider/pulumi/properties.ts";
import type { ChangeSet, EnvironmentChanges } from "../../report/changeSet.ts";
import {
  accept,
  type Accepted,
  CountingReads,
  drift,
  hasDrift,
  type Keeping,
  type Look,
  nothingSeen,
  parseAccepted,
  withAccepted,
} from "../../report/drift.ts";
import { driftFile, environmentsFile, originOf, readEnvironments } from "../../report/environments.ts";
import { stateOf, type StateResource } from "../../report/state.ts";
import { look } from "../platform.ts";
import { settingsOf } from "../platform.ts";
import { deliver, type ReportOptions, statuses, textOf } from "./reporting.ts";

/** Flags of drift. */
export interface DriftOptions {
  state?: string;
  tolerate?: boolean;
  because?: string;
  until?: string;
}

/** Days for which --tolerate does by default. */
const acceptedDays = 30;

/** An environment as drift looks at it: without environments.yaml it is the stack alone. */
interface Target {
  name: string;
  stack: string | undefined;
  endpoint?: string | undefined;
  /** The file of its state, where the backend is out of reach. */
  state?: string | undefined;
}

/** What drift.yaml accepts. */
export const toleratedIn = (folder: string): Accepted[] =>
  parseAccepted(textIfAny(folder, driftFile) ?? "", Date.now());

/** Looks at each environment, writes what was found, and sets the exit status. */
export async function runDrift(options: ReportOptions & DriftOptions): Promise<void> {
  const cwd = path.resolve(options.cwd ?? ".");
  const { state } = options;
  if (state !== undefined && options.stacks.length !== 1)
    throw new EngineError("--state is of one stack: name it with --stack");
  if (options.tolerate && !options.because)
    throw new EngineError("--tolerate needs --because: say why it is left as it is");
  const folder = projectFolder(cwd);
  const now = Date.now();
  const text = textIfAny(folder, driftFile) ?? "";
  const accepted = parseAccepted(text, now);
  const looks: { environment: EnvironmentChanges; look: Look }[] = [];
  for (const target of targetsIn(folder, options.stacks))
    looks.push(await looked(cwd, { ...target, state }, accepted, now));
  const environments = looks.map(({ environment }) => environment);
  environments[0]?.notes.push(...strayNotes(folder, environments, accepted));
  const set: ChangeSet = { version: 1, kind: "drift", environments };
  deliver(set, options, cwd);
  if (options.tolerate) {
    const until = options.until ?? new Date(now + acceptedDays * 24 * 60 * 60 * 1000).toISOString().slice(0, 10);
    const found = environments.map(({ name, change }) => ({ environment: name, section: change }));
    const written = withAccepted(text, found, options.because ?? "", until);
    parseAccepted(written, now);
    writeFileSync(path.join(folder, driftFile), written);
    process.stderr.write(
      `${driftFile} keeps this out of reports until ${until}, and stops no run: the next 'up --refresh' puts back what is ` +
        "declared. Declare what is there now to keep it.\n",
    );
  }
  if (looks.some(({ look }) => look.isRefused)) process.exitCode = statuses.login;
  else if (looks.some(({ look }) => look.unread.length > 0)) process.exitCode = statuses.unread;
  else if (!options.tolerate && environments.some(({ change }) => hasDrift(change)))
    process.exitCode = statuses.changes;
}

/** Entries that are about an environment that there is not; without a list nobody can tell. */
function strayNotes(folder: string, looked: readonly EnvironmentChanges[], accepted: readonly Accepted[]): string[] {
  const listed = readEnvironments(folder) ?? [];
  if (listed.length === 0) return [];
  const known = new Set([...listed, ...looked].map(({ name }) => name));
  return accepted
    .filter(({ environment }) => !known.has(environment))
    .map(({ place, environment }) => `${place}: there is no environment ${environment}: correct it, or delete it`);
}

function targetsIn(folder: string, stacks: readonly string[]): Target[] {
  const entries = readEnvironments(folder) ?? [];
  if (stacks.length === 0 && entries.length > 0) return entries;
  if (stacks.length === 0) return [{ name: "the selected stack", stack: undefined }];
  return stacks.map(
    (each) => entries.find(({ name, stack }) => name === each || stack === each) ?? { name: each, stack: each },
  );
}

async function looked(
  cwd: string,
  target: Target,
  accepted: readonly Accepted[],
  now: number,
): Promise<{ environment: EnvironmentChanges; look: Look }> {
  const { stack, text } =
    target.state === undefined || target.stack === undefined
      ? await stateInClear(cwd, target.stack, process.env)
      : { stack: target.stack, text: await textOf(cwd, target.state) };
  const { resources, interrupted } = stateOf(text);
  const look = await lookAt(cwd, stack, target, resources);
  const name = target.stack === undefined ? stack : target.name;
  const { section, notes } = accept(name, look.section, accepted, now);
  const begun =
    interrupted > 0 ? [`a run was interrupted: ${interrupted} resources may be otherwise than the state says`] : [];
  const change = look.unread.length === 0 ? section : { ...section, compared: false, why: look.unread.join("; ") };
  return {
    environment: { name, stack, change, problems: [], flags: [], notes: [...begun, ...notes, ...look.notes] },
    look,
  };
}

/** Looks at the platform of a stack. */
export async function lookAt(
  cwd: string,
  stack: string,
  target: Target,
  resources: readonly StateResource[],
  keeping?: Keeping,
): Promise<Look> {
  // With a state from elsewhere the variables may say everything: the stack's backend is out of reach.
  const isElsewhere = target.state !== undefined && Boolean(process.env["MICROAPPS_ENDPOINT"]);
  const { settings, folder } = await settingsOf({ cwd, ...(isElsewhere ? {} : { stack }) });
  const elsewhere = otherPlatform(target, settings.endpoint) ?? movedState(resources, platformOf(settings));
  if (elsewhere !== undefined) return { ...nothingSeen(), unread: [elsewhere] };
  const mask = maskOf(settings);
  try {
    return await look(settings, folder, (context, { client }) => {
      const lists = { ttlMs: Number.MAX_SAFE_INTEGER };
      const tables = new CountingReads(client, lists);
      const members = new MemberLists(client, { ...lists, signal: context.signal });
      return drift(resources, { ...context, members, tables }, (text) => mask.hide(text), keeping);
    });
  } catch (error) {
    const { cause } = error as Error;
    if (cause instanceof ConfigurationError) throw cause;
    const isRefused = cause instanceof ApiError && cause.code === "unauthorized";
    return { ...nothingSeen(), unread: [messageOf(error)], isRefused };
  }
}

/** A credential is used against the endpoint that is written for its environment, and no other. */
function otherPlatform({ endpoint }: Target, configured: string): string | undefined {
  if (endpoint === undefined || originOf(endpoint) === originOf(configured)) return undefined;
  return `${environmentsFile} names another endpoint than the configuration: nothing was sent`;
}

/** Explains why a state of another platform is not read: there everything would seem to be missing. */
function movedState(resources: readonly StateResource[], platform: string): string | undefined {
  const other = resources.find(
    ({ values }) => typeof values["platform"] === "string" && values["platform"] !== platform,
  );
  return other && `the state says that ${other.name} is on another platform: nothing was sent`;
}
