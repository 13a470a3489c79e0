import { readOwnPackage } from "../../../machine/ownPackage.ts";
import { today } from "../../../machine/settings/today.ts";
import { digestOf } from "../../../provider/approval/canonical.ts";
import { digestsOf, type CountedFile } from "../../../provider/approval/files.ts";
import { digestApplied, digestDeclared, listExcepted } from "../../../provider/approval/inputs.ts";
import { sealForm, type Seal, type SealedOperation, type SealedResource } from "../../../provider/approval/seal.ts";
import { holdsConfigured } from "../../../provider/environment/configured.ts";
import { listSources } from "../../../provider/environment/sources.ts";
import { things, type DeclaredThing } from "../../../provider/environment/things/things.ts";
import { find, toPlainValue, type Value } from "../../../provider/layers/document.ts";
import { profileFiles } from "../../../provider/layers/profileFile.ts";
import { settlePeople } from "../../../provider/resources/members/declaredPeople.ts";
import { factsOf } from "../../../provider/resources/model/resource.ts";
import type { Resource } from "../../../provider/resources/resource.ts";
import { resourceNamed } from "../../../provider/resources/resources.ts";
import { environmentsFile, type EnvironmentEntry } from "../base/environments.ts";
import { inFolder, projectFilesOf } from "../base/projectFiles.ts";
import type { Declared } from "../model/source.ts";
import { holdsSealed, type StackState, type StateResource } from "../state/state.ts";
import { Search } from "../state/stateSearch.ts";
import { findUnapplied, toDeclaredSettings } from "../state/stateSettings.ts";

/** Ingredients of a seal, beside the declaration. */
export interface Sealing {
  entry: EnvironmentEntry;
  declared: Declared;
  /** The base's declaration: stands for a state that was not read. */
  base: Declared | undefined;
  /** Undefined where it was not read. */
  state: StackState | undefined;
  /** Serial and digest of the state. */
  version: Exclude<Seal["state"], "unknown"> | undefined;
  commit: string;
  /** Digest of the files that decide what runs. */
  code: string;
  endpoint: string | null;
  account: string | null;
  /** The file with the platform's profile. */
  profile: string | null;
  /** Names of seeds that the report leaves as they are. */
  unchangedSeeds: ReadonlySet<string>;
}

/** Why there is no seal. */
export interface Unsealed {
  why: string;
}

/** Seals what a run of an environment may do: nothing but what the report shows. Offline. */
export async function sealRun(sealing: Sealing): Promise<Seal | Unsealed> {
  const { declared, entry, state } = sealing;
  const { document, folder } = declared;
  if (!document) return { why: "nothing is declared" };
  const roots = state?.resources.filter(({ kind }) => kind === "Environment") ?? [];
  if (roots.length > 1) return { why: `the state has ${roots.length} Environments` };
  const root = roots[0]?.name;
  const known = state && root === undefined && state.resources.some(({ kind }) => resourceNamed(kind));
  if (known) return { why: "the state has no Environment: the program declares its resources itself" };
  const { files, secretFiles, content } = await filesOf(sealing, document);
  const { rules, removals, removed } = {
    rules: [],
    removals: "free",
    removed: {},
    ...(toPlainValue(document.root) as object),
  };
  return {
    form: sealForm,
    package: readOwnPackage(),
    environment: entry.name,
    stack: entry.stack,
    commit: sealing.commit,
    endpoint: sealing.endpoint,
    account: sealing.account,
    declaration: digestOf(toPlainValue(document.root)),
    rules: digestOf([rules, removals, removed]),
    files,
    secretFiles,
    content,
    code: sealing.code,
    state: sealing.version ?? "unknown",
    ...(root === undefined ? {} : { root }),
    resources: await resourcesOf(sealing, document.root, root ?? "", { folder, project: folder }),
  };
}

async function filesOf({ declared, entry, profile }: Sealing, { files }: { files: string[] }) {
  const sources = listSources(declared.declaration).map(
    ({ source, isSecret }): CountedFile & { isSecret: boolean } => ({
      path: source,
      isSecret,
    }),
  );
  // Whoever reads one file for two seeds keeps it secret for both.
  const secret = new Set(sources.filter(({ isSecret }) => isSecret).map(({ path }) => path));
  const profiles = profile === null ? [] : profileFiles(profile, declared.folder);
  const { project, stack } = await projectFilesOf(inFolder(declared.folder), entry.stack);
  const settings = [project, stack, environmentsFile];
  const own = [...settings, ...profiles, ...files].map((path) => ({ path }));
  const counted = [...own, ...sources.map(({ path }) => ({ path, isSecret: secret.has(path) }))];
  return { ...(await digestsOf(declared.folder, counted)), secretFiles: [...secret].sort() };
}

type Context = Parameters<typeof digestDeclared>[3];

async function resourcesOf(
  sealing: Sealing,
  document: Value,
  root: string,
  context: Context,
): Promise<Record<string, SealedResource>> {
  const { declared, state } = sealing;
  const below = (state?.resources ?? formerly(sealing)).filter(({ name }) => name.startsWith(`${root}/`));
  const search = new Search(below.map((each) => ({ ...each, name: each.name.slice(root.length) })));
  const sealedOnes = new Map<string, SealedResource>();
  const place = { directory: declared.folder, day: today() };
  for (const stated of things(declared.declaration)) {
    const resource = resourceNamed(stated.kind);
    if (!resource) continue;
    // People whose end has passed leave, and those of a file come: the seal has whom the run has.
    const thing = { ...stated, inputs: await settlePeople(stated.kind, stated.inputs, place) };
    const former = search.find(thing.kind, thing.name);
    const found = state && former;
    const names = [...(found ? sealedNames(found) : []), ...configuredNames(document, resource, thing)];
    const except = listExcepted(resource, names, thing.inputs["sensitive"] === true);
    sealedOnes.set(thing.key, {
      operations: allowed(state, operationsOf(sealing, resource, thing, { found: former, except }, sealedOnes)),
      ...(found ? { id: found.id, from: fromOf(resource, found, except) } : {}),
      to: digestDeclared(resource, thing.inputs, except, context) ?? "",
      ...(except.length > 0 ? { except } : {}),
      ...(Object.keys(thing.links).length > 0 ? { links: { ...thing.links } } : {}),
    });
  }
  for (const found of search.left()) {
    const resource = resourceNamed(found.kind);
    if (!resource) continue;
    const except = listExcepted(resource, sealedNames(found), false);
    const removed: SealedResource = {
      operations: ["delete"],
      ...(state ? { id: found.id, from: fromOf(resource, found, except) } : {}),
      ...(except.length > 0 ? { except } : {}),
    };
    for (const key of new Set([`${found.kind} ${found.name.slice(1)}`, ...formerKeyOf(found, root)]))
      if (!sealedOnes.has(key)) sealedOnes.set(key, removed);
  }
  return Object.fromEntries([...sealedOnes].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The resources of an environment that matches the base's declaration. */
const formerly = ({ base }: Sealing): StateResource[] =>
  (base ? things(base.declaration) : []).flatMap(({ kind, name, inputs }) => {
    const resource = resourceNamed(kind);
    const values = resource && Object.fromEntries(toDeclaredSettings(resource, inputs, ["rows"]).values);
    return values ? [{ kind, name: name.now, id: "", values }] : [];
  });

/** Without the state nobody knows what is there already: what is declared may come and change, what this change shows as going may go. */
const allowed = (state: StackState | undefined, shown: SealedOperation[]): SealedOperation[] =>
  state ? shown : ["create", "update", "same", ...shown.filter((one) => one === "replace")];

const fromOf = (resource: Resource, { outputs, values }: StateResource, except: readonly string[]): string =>
  digestApplied(resource, outputs ?? values, except);

const sealedNames = ({ outputs = {} }: StateResource): string[] =>
  Object.entries(outputs).flatMap(([name, value]) => (holdsSealed(value) ? [name] : []));

/** The former URN of a renamed dynamic resource, which its deletion still has. */
function formerKeyOf({ kind, outputs = {} }: StateResource, root: string): string[] {
  const { resourceUrn } = outputs;
  if (typeof resourceUrn !== "string") return [];
  const name = resourceUrn.split("::").slice(3).join("::");
  return name.startsWith(`${root}/`) ? [`${kind} ${name.slice(root.length + 1)}`] : [];
}

/** Inputs that hold values of the configuration, which a report has not. */
function configuredNames(document: Value, resource: Resource, { path }: DeclaredThing): string[] {
  const own = find(document, path)?.value;
  if (own?.kind !== "map") return own && holdsConfigured(own) ? ["role"] : [];
  const names = [...own.entries].flatMap(([name, { value }]) => (holdsConfigured(value) ? [name] : []));
  // Edits of rows are written by verbs.
  const edits = ["rows", "additions", "changes", "removals"];
  return names.flatMap((name) => (name in resource.inputs.shape ? [name] : edits));
}

function operationsOf(
  { unchangedSeeds }: Sealing,
  resource: Resource,
  { inputs, kind, links, path }: DeclaredThing,
  { found, except }: { found: StateResource | undefined; except: readonly string[] },
  others: ReadonlyMap<string, SealedResource>,
): SealedOperation[] {
  if (!found) return ["create"];
  // Where the state is not known, all that is declared may come: that moves nothing.
  const isNew = ({ of = "" }: { of?: string }): boolean => {
    const { operations = [] } = others.get(of) ?? {};
    return operations.includes("replace") || operations.join() === "create";
  };
  const moving = Object.entries(links).flatMap(([name, targets]) => (targets.some(isNew) ? [name] : []));
  const settings = toDeclaredSettings(resource, inputs, ["rows"]);
  const changed = findUnapplied(found, settings).map(({ name }) => name);
  const replaces = (name: string): boolean => factsOf(resource.inputs.shape[name]).replaces === true;
  // Somebody who left on a last day comes back as a new member.
  const [hasEnded, hadEnded] = [inputs["ended"] === true, found.values["ended"] === true];
  if (hadEnded && !hasEnded) return ["replace"];
  if ([...moving, ...changed].some(replaces)) return ["replace"];
  // A thing that can't be compared may change; only to the sealed content, though.
  const isUncertain =
    found.isUnfinished === true || except.length > 0 || (kind === "SeedRows" && !unchangedSeeds.has(path.at(-1) ?? ""));
  const isChanged = moving.length + changed.length > 0 || hasEnded !== hadEnded;
  return isChanged || isUncertain ? ["update"] : ["same"];
}
