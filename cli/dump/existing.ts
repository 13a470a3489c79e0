import { randomBytes } from "node:crypto";
import { withoutUndefined } from "../../provider/contract/values.ts";
import { listLinkedInputs, things } from "../../provider/environment/things/things.ts";
import { check, inputsIn, type Properties } from "../../provider/pulumi/properties.ts";
import { nameOf } from "../../provider/resources/members/rosterLists.ts";
import type { ResourceContext, Resource } from "../../provider/resources/resource.ts";
import { resourceNamed } from "../../provider/resources/resources.ts";
import { seedRows } from "../../provider/resources/seedRows.ts";
import { declareOrganizations } from "./environmentFile.ts";
import type { DumpedOrganization } from "./people.ts";
import type { DumpedSeed } from "./seeds.ts";
import type { TableRows } from "./tableRows.ts";

/** A resource that is on the platform, as a state has it. */
export interface Existing {
  /** Name of the type. */
  type: string;
  /** Logical names, from the organization or seed down. */
  path: string[];
  id: string;
  inputs: Properties;
  outputs: Properties;
}

const stateOf = (definition: unknown, path: string[], id: string, outputs: Properties): Existing => {
  const resource = definition as Resource; // as the list of all resources has it
  return { type: resource.name, path, id, inputs: inputsIn(resource, outputs), outputs };
};

/** Organizations, teams and members as an import would leave them: the things that the file declares. */
export function existingPeople(organizations: readonly DumpedOrganization[]): Existing[] {
  const ids = new Map<string, string>();
  const declared = {
    organizations: declareOrganizations(organizations),
    seeds: {},
    seedOrder: [],
    apps: {},
    fields: {},
  };
  return things(declared).map((thing) => {
    const { id, ...more } = findOnPlatform(organizations, thing.path);
    ids.set(thing.key, id);
    const links = listLinkedInputs(thing, ({ of = "" }) => ids.get(of));
    const outputs = { ...links, ...withoutUndefined(thing.inputs), ...more };
    return stateOf(resourceNamed(thing.kind), thing.name.now.slice(1).split("/"), id, outputs);
  });
}

/** The ID of what stands at a path of the file. */
function findOnPlatform(
  organizations: readonly DumpedOrganization[],
  [, organizationKey, , teamKey, , name]: readonly string[],
): { id: string; memberUserID?: string } {
  const organization = organizations.find(({ key }) => key === organizationKey);
  const team = organization?.teams.find(({ key }) => key === teamKey);
  const member = team?.members.find((one) => nameOf(one) === name);
  if (team && member) return { id: `${team.id}/${member.userID}`, memberUserID: member.userID };
  return { id: (team ?? organization)?.id ?? "" };
}

/**
 * The state of a seed that owns its rows: the result of creating it, since everything exists already. With a client
 * that may only read, this also proves that the file matches the table. Throws when it does not.
 */
export async function existingSeed(
  context: ResourceContext,
  { rows, declaration, references, parent }: DumpedSeed,
): Promise<Existing> {
  const keyed = ({ option: { table, key } }: TableRows) => ({ table, key: key[0] ?? "" });
  const linked = [...references].map(([label, target]) => [label, keyed(target)] as const);
  const declared = {
    ...declaration,
    ...(linked.length > 0 ? { references: Object.fromEntries(linked) } : {}),
    ...(parent ? { parent: { ...keyed(parent.rows), by: parent.by } } : {}),
  };
  const definition = seedRows as unknown as Resource; // as the list of all resources has it
  const { inputs, problems } = await check(definition, { ...context, seed: () => randomBytes(32) }, {}, declared);
  if (problems.length > 0) throw new Error(problems.map(({ reason }) => reason).join("\n"));
  const { id, outputs } = await definition.create(context, inputs);
  const { found: _, ...owned } = outputs; // an imported seed owns its rows, so none counts as found
  return { type: definition.name, path: [rows.option.seed], id, inputs, outputs: owned };
}
