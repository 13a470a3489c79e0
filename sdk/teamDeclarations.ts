import * as pulumi from "@pulumi/pulumi";

/** A resource that declares members of a team. */
interface Declaration {
  kind: "TeamMember" | "TeamRoster";
  name: string;
  /** The members: addresses, user IDs, or outputs of either. */
  people: readonly unknown[];
  /** True when it removes everybody else from the team. */
  excludes: boolean;
}

/** The resources that declare members of one team. */
interface Declared {
  byPerson: Map<unknown, Declaration>;
  first: Partial<Record<Declaration["kind"], Declaration>>;
  /** The first one that removes everybody else from the team. */
  excluding?: Declaration;
}

/** Declarations by the output that is the team's ID: it identifies the team before it exists. */
const declaring = new WeakMap<object, Declared>();

/**
 * Throws when another resource declares the same member, or contradicts this one. Compares teams by the output of their
 * ID; the provider compares the IDs themselves.
 */
export function declareInTeam(declaration: Declaration, teamID: pulumi.Input<string>): void {
  if (!pulumi.Output.isInstance(teamID)) return;
  const team: Declared = declaring.get(teamID) ?? { byPerson: new Map(), first: {} };
  declaring.set(teamID, team);
  refuseSecond(declaration, team);
  team.first[declaration.kind] ??= declaration;
  if (declaration.excludes) team.excluding ??= declaration;
  for (const one of declaration.people) if (one !== undefined) team.byPerson.set(person(one), declaration);
}

/** The names in a map, where they are known while the program runs. */
export const namesIn = (people: unknown): readonly unknown[] =>
  typeof people === "object" && people !== null && !pulumi.Output.isInstance(people) && !(people instanceof Promise)
    ? Object.keys(people)
    : [];

function refuseSecond(declaration: Declaration, { byPerson, first, excluding }: Declared): void {
  const { kind } = declaration;
  const mixed = first[kind === "TeamMember" ? "TeamRoster" : "TeamMember"];
  const same = declaration.people.map((one) => byPerson.get(person(one))).find((other) => other !== undefined);
  const second = mixed ?? same ?? excluding ?? (declaration.excludes ? first[kind] : undefined);
  if (!second) return;
  const what = mixed
    ? "says who is in the same team as well. Declare the members of one team in a TeamRoster or as TeamMembers, not both"
    : kind === "TeamMember"
      ? "declares the same member of the same team as well. Keep one of them"
      : "says who is in the same team as well. Keep one of them";
  throw new pulumi.RunError(`${called(declaration)}: ${called(second)} ${what}`);
}

const called = ({ kind, name }: Declaration): string => `${kind} "${name}"`;

/** The key of a person: the letter case of addresses does not count. */
const person = (name: unknown): unknown => (typeof name === "string" ? name.toLowerCase() : name);
