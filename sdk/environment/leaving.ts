import * as pulumi from "@pulumi/pulumi";
import { isObject } from "../../provider/contract/wire.ts";
import type { LogicalName } from "../../provider/environment/things/logicalNames.ts";
import {
  countRowsLeft,
  describeRenaming,
  findRenamings,
  type RenamedSide,
} from "../../provider/environment/things/renames.ts";
import { describeSizes } from "../../provider/environment/things/sizes.ts";
import type { DeclaredThing } from "../../provider/environment/things/things.ts";
import { toShownNames } from "../../provider/pulumi/providerKinds.ts";
import { keysOf, type RowDeclaration } from "../../provider/resources/rows/declared/declaration.ts";

/** Reads a stack's last state: a function of the Pulumi CLI. The embedded engine has none, and reports all of this itself. */
const stateFunction = "pulumi:pulumi:readStackResourceOutputs";

/** Most things that are named with their sizes. */
const maxNamed = 20;

type Values = Readonly<Record<string, unknown>>;

/** An Environment with its resources, by the keys of its things. */
interface Registered {
  environment: pulumi.Resource;
  root: LogicalName;
  all: readonly DeclaredThing[];
  made: ReadonlyMap<string, pulumi.CustomResource>;
}

/** A thing that comes. */
interface Coming extends RenamedSide {
  thing: DeclaredThing;
  resource: pulumi.CustomResource;
}

/**
 * Reports in a preview what leaves an Environment, with its size, and what may only have another key. Providers do not
 * learn of what leaves, and the Pulumi CLI shows no size. It is advice: where nobody can give it, the preview goes on.
 */
export function reportLeaving(registered: Registered): void {
  if (!pulumi.runtime.isDryRun()) return;
  const release = pulumi.runtime.rpcKeepAlive(); // the program must not end before
  void report(registered)
    .catch((error: unknown) => pulumi.log.debug(`the last state is not known to the program: ${String(error)}`))
    .finally(release);
}

async function report({ environment, root, all, made }: Registered): Promise<void> {
  const earlier = (await readEarlier()).flatMap((one) => below(root, one));
  const known = new Map(earlier.map((one) => [`${one.kind} ${one.name}`, one]));
  const formerOf = ({ kind, name }: DeclaredThing): RenamedSide | undefined =>
    namesOf(name).flatMap((one) => known.get(`${kind} ${nameIn(root, one) ?? ""}`) ?? [])[0];
  const found = new Set(all.map(formerOf));
  const left = earlier.filter((one) => !found.has(one));
  if (left.length === 0) return;
  const sizes = describeLeft(left);
  if (sizes !== undefined) await pulumi.log.info(sizes, environment);
  const came: Coming[] = [];
  for (const thing of all) {
    const resource = made.get(thing.key);
    if (!resource || formerOf(thing) || (await isKnown(resource.id))) continue;
    const parent = all.find(({ key }) => key === thing.above);
    const values = { ...(await valuesOf(thing, left)), ...parentOf(thing.kind, parent && formerOf(parent)?.name) };
    came.push({ thing, resource, kind: thing.kind, name: nameIn(root, thing.name.now) ?? "", values });
  }
  const sides: RenamedSide[] = left.map((one) => ({
    ...one,
    values: { ...one.values, ...parentOf(one.kind, above(one.name)) },
  }));
  for (const renaming of findRenamings(sides, came, countRowsLeft)) {
    const { thing, resource } = came.find((one) => one === renaming.came) ?? {};
    await pulumi.log.warn(describeRenaming(renaming, thing?.path.join(".")), resource);
  }
}

/** All of the stack's last state. */
async function readEarlier(): Promise<RenamedSide[]> {
  const [organization, project, stack] = [pulumi.getOrganization(), pulumi.getProject(), pulumi.getStack()];
  const ask = (stackName: string): Promise<unknown> => pulumi.runtime.invoke(stateFunction, { stackName });
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

/** The property that shows an unknown output, as what is created has, is hidden by its type. */
const isKnown = (output: pulumi.Output<unknown>): Promise<boolean> =>
  (output as unknown as { isKnown: Promise<boolean> }).isKnown;

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
    void pulumi.log.debug(`rows of ${inputs["table"] as string} are not compared: ${String(error)}`); // the seed reports it
    return inputs;
  }
}
