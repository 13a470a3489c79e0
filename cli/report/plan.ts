import { createHash } from "node:crypto";
import { projectAt, settingsAtRest, type Stack, stateAtRest } from "../../engine/index.ts";
import { readOwnPackage } from "../../machine/ownPackage.ts";
import { today } from "../../machine/today.ts";
import { isObject } from "../../platform/contract/wire.ts";
import { listEnded } from "../../provider/environment/checks.ts";
import { listSources } from "../../provider/environment/declaration.ts";
import { things } from "../../provider/environment/things.ts";
import { addFile } from "../../provider/files/files.ts";
import { variableOf } from "../../provider/pulumi/configuration.ts";
import { stable } from "./changeSet.ts";
import { type EnvironmentEntry, type EnvironmentReading, readDeclaration, readEnvironments } from "./environments.ts";
import { inWords } from "./rendering.ts";
import { deploymentIn } from "./state.ts";

/** All that decides what a run will do, each as text or as a digest, by the words in which a difference is named. */
type PlanParts = Readonly<Record<(typeof parts)[number], string>>;

/** In the order in which a digest has them. */
const parts = [
  "what the environment files declare",
  "the files of rows and people",
  "who has left by this day",
  "Pulumi.yaml, the stack's file or the platform's profile",
  "the endpoint",
  "the account",
  "the state",
  "the version of pulumi-microapps",
  "the stack",
] as const;

/** Reads an Environment file, once for all that need it. */
export type ReadFile = (file: string) => Promise<Pick<EnvironmentReading, "declared">>;

/**
 * Collects what decides a run of a stack. Nothing is decrypted and nothing is asked of a platform, so a job without the
 * passphrase has the same parts as one with it. Undefined where no Environment file is known, or one of them is wrong.
 * @param state as its backend or `stack export` has it
 * @param file the Environment file, where nothing else names it
 */
export async function planAt(
  cwd: string,
  stack: string,
  state: string,
  file?: string,
  read?: ReadFile,
): Promise<PlanParts | undefined> {
  const project = projectAt(cwd);
  const { root } = project;
  const { texts, setting } = settingsAtRest(project, stack);
  const listed = (readEnvironments(root) ?? []).filter((each) => each.stack === stack);
  const files = file === undefined ? filesOf(project, stack, listed) : [file];
  if (files.length === 0) return undefined;
  const declared: unknown[] = [];
  const ended: string[] = [];
  const sources = new Set<string>();
  for (const each of files) {
    const reading = await (read?.(each) ?? readDeclaration(each, root));
    if (!reading.declared) return undefined;
    const { declaration } = reading.declared;
    declared.push({ things: things(declaration), rules: declaration.rules });
    for (const source of listSources(declaration)) sources.add(source);
    ended.push(...(await listEnded(declaration, { directory: root, day: today() })));
  }
  const profile = setting("microapps:profile") ?? process.env[variableOf("profile")] ?? "platform-profile.yaml";
  // A variable counts where it overrides what a file says: a job that plans has none of those of the job that applies.
  const valueOf = (key: string, listed?: string): string => {
    const written = listed ?? setting(`microapps:${key}`);
    return written === undefined ? "" : (process.env[variableOf(key)] ?? written);
  };
  const values = [
    ...[stable(declared), await digestOf(root, [...sources].toSorted()), stable(ended.toSorted())],
    stable([...texts, await digestOf(root, [profile])]),
    ...[valueOf("endpoint", listed[0]?.endpoint), stable([valueOf("email"), valueOf("userID")])],
    ...[digestOfState(state), readOwnPackage().version, stable([project.name, stack])],
  ];
  return Object.fromEntries(parts.map((part, at) => [part, values[at] ?? ""])) as PlanParts;
}

/** The Environment files of a stack: of environments.yaml, and of a project of files. */
function filesOf(project: ReturnType<typeof projectAt>, stack: string, listed: readonly EnvironmentEntry[]): string[] {
  const { resources } = project.content;
  const own = Object.values(isObject(resources) ? resources : {}).flatMap((resource) => {
    const properties = isObject(resource) ? resource["properties"] : undefined;
    const file = isObject(properties) ? properties["file"] : undefined;
    if (typeof file !== "string") return [];
    return file.replaceAll("${pulumi.stack}", stack).replaceAll("${pulumi.project}", project.name);
  });
  return [...new Set([...listed.map((each) => each.file), ...own])].toSorted();
}

/** A digest of files by their names and contents; a missing one counts as that. */
async function digestOf(folder: string, names: readonly string[]): Promise<string> {
  const all: [string, string][] = [];
  for (const name of names) {
    const hash = createHash("sha256");
    const isThere = await addFile(hash, folder, name);
    all.push([name, isThere ? hash.digest("hex") : ""]);
  }
  return stable(all);
}

/** What a state has, without the time at which it was written. */
function digestOfState(text: string): string {
  const { resources = [], pending_operations: pending = [] } = deploymentIn(text);
  return sha256(stable([resources, pending]));
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** Letters of the digest of each part: they only name what differs, and decide nothing. */
const hintLength = 4;

/** The digest of a plan: the digest of all its parts, then a hint of each part, by which a difference is named. */
export function planDigest(plan: PlanParts): string {
  const values = parts.map((part) => plan[part]);
  return `sha256:${sha256(stable(values))}-${values.map((value) => sha256(value).slice(0, hintLength)).join("")}`;
}

const form = new RegExp(`^sha256:[0-9a-f]{64}(-[0-9a-f]{${parts.length * hintLength}})?$`);

/** Why a plan is not the expected one, in one sentence; undefined where it is. Both are digests. */
export function describeOtherPlan(expected: string, now: string): string | undefined {
  if (!form.test(expected))
    return `${JSON.stringify(expected.slice(0, 120))} is not the digest of a plan: sha256:… as report and preview print it`;
  const [digest, hints = ""] = expected.split("-");
  if (now.startsWith(`${digest ?? ""}-`)) return undefined;
  const found = now.split("-")[1] ?? "";
  const piece = (text: string, at: number): string => text.slice(at * hintLength, (at + 1) * hintLength);
  const differing = parts.filter((_, at) => hints !== "" && piece(hints, at) !== piece(found, at));
  const what = differing.length > 0 ? inWords(differing) : `among ${inWords(parts)}`;
  return `the plan has changed, and nothing was sent. What differs: ${what}. The plan is now ${now}: review it, and have that one approved`;
}

/** The plan of an open stack. */
export async function planOfStack({ project, name }: Stack) {
  const state = await stateAtRest(project.root, name, process.env);
  const parts = state === undefined ? undefined : await planAt(project.root, name, state);
  if (!parts) return undefined;
  const digest = planDigest(parts);
  return { digest, differsFrom: (expected: string) => describeOtherPlan(expected, digest) };
}
