import { randomBytes } from "node:crypto";
import { check, inputsIn, type Properties } from "../pulumi/properties.ts";
import { organization } from "../resources/organization.ts";
import type { ResourceContext, Resource } from "../resources/resource.ts";
import { seedRows } from "../resources/seedRows.ts";
import { team } from "../resources/team.ts";
import { teamMember } from "../resources/teamMember.ts";
import type { DumpedOrganization } from "./people.ts";
import type { Seed } from "./seeds.ts";
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

/** Organizations, teams and members as an import would leave them. */
export function existingPeople(organizations: readonly DumpedOrganization[]): Existing[] {
  return organizations.flatMap(({ id: organizationID, key, teams, ...one }) => [
    stateOf(organization, [key], organizationID, described(one)),
    ...teams.flatMap(({ id: teamID, key: teamKey, members, ...own }) => [
      stateOf(team, [key, teamKey], teamID, { organizationID, ...described(own) }),
      ...members.map(({ userID, email, role }) =>
        // The letter case of an address means nothing, so a resource is not called by it.
        stateOf(teamMember, [key, teamKey, email.toLowerCase()], `${teamID}/${userID}`, {
          teamID,
          email,
          ...(role === undefined ? {} : { role }),
          memberUserID: userID,
        }),
      ),
    ]),
  ]);
}

const described = ({ name, description }: { name: string; description?: string | null | undefined }) => ({
  name,
  ...(description ? { description } : {}),
});

/**
 * The state of a seed that owns its rows: the result of creating it, since everything exists already. With a client
 * that may only read, this also proves that the file matches the table. Throws when it does not.
 */
export async function existingSeed(
  context: ResourceContext,
  { rows, declaration, references, parent }: Seed,
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
