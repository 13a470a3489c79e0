import * as pulumi from "@pulumi/pulumi";

/** A resource that says who is in a team. */
interface Declaration {
  kind: "TeamMember" | "TeamRoster";
  name: string;
  /** Whom it declares: an address, a user ID, or an output that stands for one. */
  people: readonly unknown[];
  /** Whether it says that nobody else is in the team. */
  excludes: boolean;
}

/** What says who is in one team. */
interface Declared {
  byPerson: Map<unknown, Declaration>;
  first: Partial<Record<Declaration["kind"], Declaration>>;
  /** The first one that says that nobody else is in the team. */
  excluding?: Declaration;
}

/** What is declared of a team, by the output that is the team's ID: it stands for the team before that has one. */
const declaring = new WeakMap<object, Declared>();

/**
 * Throws when another resource says the same of one team, or the contrary. A team that exists is told apart by the
 * provider.
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

/** What stands for a person: addresses are the same in any letter case. */
const person = (name: unknown): unknown => (typeof name === "string" ? name.toLowerCase() : name);
