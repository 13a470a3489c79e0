import { isObject } from "../../contract/wire.ts";
import type { LogicalName } from "../../environment/things/logicalNames.ts";
import { countRowsLeft, describeRenaming, findRenamings, type RenamedSide } from "../../environment/things/renames.ts";
import { describeSizes } from "../../environment/things/sizes.ts";
import type { DeclaredThing } from "../../environment/things/things.ts";
import { keysOf, type RowDeclaration } from "../../resources/rows/declared/declaration.ts";
import { SourceError } from "../../sources/read.ts";
import { toShownNames } from "../providerKinds.ts";

/** Reads a stack's last state: a function of the Pulumi CLI. The embedded engine has none, and reports all of this itself. */
const stateFunction = "pulumi:pulumi:readStackResourceOutputs";

/** Most things that are named with their sizes. */
const maxNamed = 20;

type Values = Readonly<Record<string, unknown>>;

/** A previewed Environment, and what its engine is asked and told. */
interface Registered {
  root: LogicalName;
  all: readonly DeclaredThing[];
  project: { organization: string; project: string; stack: string };
  /** True if a thing was registered, and is created. */
  isNew: (key: string) => Promise<boolean> | boolean;
  /** Calls a function of the engine; throws where it has none of that name. */
  invoke: (token: string, args: Record<string, string>) => Promise<unknown>;
  /** Says something of the Environment. */
  info: (text: string) => Promise<void>;
  /** Says something of a thing. */
  warn: (key: string, text: string) => Promise<void>;
}

/** A thing that comes. */
interface Coming extends RenamedSide {
  thing: DeclaredThing;
}

/**
 * Reports in a preview what leaves an Environment, with its size, and what may only have another key. Providers do not
 * learn of what leaves, and the Pulumi CLI shows no size. It is advice: where nobody can give it, the preview goes on.
 */
export async function reportLeaving(registered: Registered): Promise<void> {
  const { root, all, isNew, info, warn } = registered;
  const earlier = (await readEarlier(registered)).flatMap((one) => below(root, one));
  const known = new Map(earlier.map((one) => [`${one.kind} ${one.name}`, one]));
  const formerOf = ({ kind, name }: DeclaredThing): RenamedSide | undefined =>
    namesOf(name).flatMap((one) => known.get(`${kind} ${nameIn(root, one) ?? ""}`) ?? [])[0];
  const found = new Set(all.map(formerOf));
  const left = earlier.filter((one) => !found.has(one));
  if (left.length === 0) return;
  const sizes = describeLeft(left);
  if (sizes !== undefined) await info(sizes);
  const came: Coming[] = [];
  for (const thing of all) {
    if (formerOf(thing) || !(await isNew(thing.key))) continue;
    const parent = all.find(({ key }) => key === thing.above);
    const values = { ...(await valuesOf(thing, left)), ...parentOf(thing.kind, parent && formerOf(parent)?.name) };
    came.push({ thing, kind: thing.kind, name: nameIn(root, thing.name.now) ?? "", values });
  }
  const sides: RenamedSide[] = left.map((one) => ({
    ...one,
    values: { ...one.values, ...parentOf(one.kind, above(one.name)) },
  }));
  for (const renaming of findRenamings(sides, came, countRowsLeft)) {
    const thing = came.find((one) => one === renaming.came)?.thing;
    if (thing) await warn(thing.key, describeRenaming(renaming, thing.path.join(".")));
  }
}

/** All of the stack's last state. */
async function readEarlier({ project: { organization, project, stack }, invoke }: Registered): Promise<RenamedSide[]> {
  const ask = (stackName: string): Promise<unknown> => invoke(stateFunction, { stackName });
  // Backends without projects know a stack by its name alone.
  const answer = await ask(`${organization}/${project}/${stack}`).catch(() => ask(stack));
  const found = isObject(answer) && isObject(answer["outputs"]) ? answer["outputs"] : {};
  return Object.entries(found).map(([urn, resource]) => {
    const [, , type = "", ...name] = urn.split("::");
    const outputs = isObject(resource) && isObject(resource["outputs"]) ? resource["outputs"] : {};
    return { kind: type.slice(type.lastIndexOf(":") + 1), name: name.join("::"), values: toShownNames(outputs) };
  });
}

const namesOf = ({ now, own, inherited }: LogicalName): string[] => [now, ...own, ...inherited];
const above = (name: string): string => name.slice(0, Math.max(name.lastIndexOf("/"), 0));

/** The part of a name that is below the Environment; undefined outside of it. */
function nameIn(root: LogicalName, name: string): string | undefined {
  const top = namesOf(root).find((each) => name.startsWith(`${each}/`));
  return top === undefined ? undefined : name.slice(top.length + 1);
}

function below(root: LogicalName, one: RenamedSide): RenamedSide[] {
  const name = nameIn(root, one.name);
  return name === undefined ? [] : [{ ...one, name }];
}

/** Rows and people of what leaves. */
function describeLeft(left: readonly RenamedSide[]): string | undefined {
  const sizeOf = describeSizes();
  // People before their team, which is known by the ID that they have.
  const parts = left
    .toSorted((one, other) => other.name.split("/").length - one.name.split("/").length)
    .flatMap(({ kind, name, values }) => {
      const person = left.find((one) => one.name.startsWith(`${name}/`) && typeof one.values["teamID"] === "string");
      const size = sizeOf({ urn: name, resourceType: kind, id: String(person?.values["teamID"]), properties: values });
      return size === undefined ? [] : [`${kind} ${name}, ${size}`];
    });
  if (parts.length === 0) return undefined;
  const more = parts.length - maxNamed;
  return `not declared any more: ${parts.slice(0, maxNamed).join("; ")}${more > 0 ? `; and ${more} more` : ""}`;
}

/** A team is of an organization by its former name: IDs of what is new are not known. */
const parentOf = (kind: string, name: string | undefined): Values => (kind === "Team" ? { organizationID: name } : {});

/** Declared values, with the keys of rows where they may be those of a seed that leaves. */
async function valuesOf({ kind, inputs }: DeclaredThing, left: readonly RenamedSide[]): Promise<Values> {
  const isSought = left.some(({ values }) => values["table"] === inputs["table"] && Array.isArray(values["keys"]));
  if (kind !== "SeedRows" || !isSought) return inputs;
  try {
    return { ...inputs, keys: await keysOf(inputs as unknown as RowDeclaration, process.cwd()) };
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    return inputs; // the seed reports what is wrong with its rows
  }
}
