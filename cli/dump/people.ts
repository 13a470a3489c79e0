import { role, allMembers } from "../../platform/contract/people.ts";
import { formatCount, quote } from "../../platform/messages/text.ts";
import type { Declaration } from "../../provider/environment/declaration.ts";
import { getTeamMembers } from "../../provider/functions/functions.ts";
import { nameOf } from "../../provider/people/people.ts";
import { organization } from "../../provider/resources/organization.ts";
import type { Context } from "../../provider/resources/resource.ts";
import { team } from "../../provider/resources/team.ts";
import { teamRoster } from "../../provider/resources/teamRoster.ts";
import { DumpError } from "./tables.ts";

/** An organization or a team. */
export interface NamedThing {
  id: string;
  name: string;
  description?: string | null | undefined;
}

/** A member of a team, as an environment file declares one. */
interface Member {
  userID: string;
  /** Undefined where the platform shows none. */
  email?: string;
  role?: "admin" | "member";
}

interface DumpedTeam extends NamedThing {
  /** Logical name. */
  key: string;
  members: Member[];
}

export interface DumpedOrganization extends NamedThing {
  /** Logical name. */
  key: string;
  teams: DumpedTeam[];
}

/** Masks of people, organizations and teams. */
export interface PeopleMask {
  address: (email: string) => string;
  named: <One extends NamedThing>(what: "organizations" | "teams", one: One) => One;
}

/**
 * Reads the organizations and teams with these IDs, the teams' organizations as well; the interface lists neither. In
 * the order of their names. Calls `warn` for what an environment file can't declare.
 */
export async function readOrganizations(
  context: Context,
  organizationIDs: readonly string[],
  teamIDs: readonly string[],
  warn: (text: string) => void,
  mask?: PeopleMask,
): Promise<DumpedOrganization[]> {
  const teams = await Promise.all(
    [...new Set(teamIDs)].map(async (id) => {
      const found = await team.read(context, id, {});
      if (!found) throw new DumpError(`there is no team ${id} on the platform: name it by its ID`);
      const one = { id, ...found.outputs };
      return one.name === allMembers || !mask ? one : mask.named("teams", one);
    }),
  );
  const all = new Set([...organizationIDs, ...teams.map(({ organizationID }) => organizationID)]);
  const organizations = await Promise.all(
    [...all].map(async (id): Promise<NamedThing> => {
      const found = await organization.read(context, id, {});
      if (!found) throw new DumpError(`there is no organization ${id} on the platform: name it by its ID`);
      const one = { id, ...found.outputs };
      return mask?.named("organizations", one) ?? one;
    }),
  );
  const notes = new Map<string, string>();
  const dumped = await Promise.all(
    withKeys(organizations).map(async (one) => {
      const own = teams.filter(({ organizationID, name }) => organizationID === one.id && name !== allMembers);
      if (own.length < teams.filter(({ organizationID }) => organizationID === one.id).length) {
        warn(`the team "${allMembers}" of ${one.name} is left out: every organization has it by itself`);
      }
      const dumped = withKeys(own).map(async (team) => ({
        ...team,
        members: await membersOf(context, team, (text) => notes.set(team.id, text), mask),
      }));
      return { ...one, teams: await Promise.all(dumped) };
    }),
  );
  // In the order of the file, whoever was read first.
  for (const { id } of dumped.flatMap(({ teams }) => teams)) {
    const note = notes.get(id);
    if (note !== undefined) warn(note);
  }
  return dumped;
}

async function membersOf(
  context: Context,
  { id, name }: NamedThing,
  note: (text: string) => void,
  mask: PeopleMask | undefined,
): Promise<Member[]> {
  const { members } = await getTeamMembers.invoke(context, { teamID: id });
  const nameless = members.filter(({ email }) => email === undefined);
  if (nameless.length > 0) note(`team "${name}": ${describeNameless(nameless, mask !== undefined)}`);
  const all = members.flatMap(({ userID, email, role: word }): Member[] => {
    if (email === undefined && mask) return [];
    if (email === undefined && !person.safeParse(userID).success) {
      throw new DumpError(
        `team "${name}": the platform shows no address of ${quote(userID)}, and a file takes no such ID`,
      );
    }
    const known = role.safeParse(word);
    return [
      {
        userID,
        ...(email === undefined ? {} : { email: mask?.address(email) ?? email }),
        ...(known.success ? { role: known.data } : {}),
      },
    ];
  });
  // In clear they stand as the platform lists them, which shows who came first.
  return mask ? all.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1)) : all;
}

const person = teamRoster.inputs.shape.members.unwrap().keyType;

function describeNameless(nameless: readonly object[], isMasked: boolean): string {
  const who = `${formatCount(nameless.length, "member")} without an address that the platform shows`;
  return isMasked
    ? `${who}: left out, since a user ID is not a mask`
    : `${who}: declared by user ID, which another platform does not know`;
}

/** Things in the order of their names, each with a logical name made of its own. */
function withKeys<One extends NamedThing>(things: readonly One[]): (One & { key: string })[] {
  const taken = new Set<string>();
  const place = ({ name, id }: NamedThing): string => `${name}\n${id}`;
  return things
    .toSorted((a, b) => (place(a) < place(b) ? -1 : 1))
    .map((thing) => {
      const plain = thing.name.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();
      const word = plain.replaceAll(/[^a-z0-9]+/g, "-").replaceAll(/^-|-$/g, "") || "unnamed";
      let key = word;
      for (let count = 2; taken.has(key); count++) key = `${word}-${count}`;
      taken.add(key);
      return { ...thing, key };
    });
}

/** The organizations as the file declares them. */
export const declareOrganizations = (organizations: readonly DumpedOrganization[]): Declaration["organizations"] =>
  Object.fromEntries(
    organizations.map((one) => {
      const teams = one.teams.map((team) => {
        const members = team.members.map((member) => [nameOf(member), member.role ?? {}] as const);
        return [team.key, { ...described(team), ...unlessEmpty("members", Object.fromEntries(members)) }] as const;
      });
      return [one.key, { ...described(one), ...unlessEmpty("teams", Object.fromEntries(teams)) }] as const;
    }),
  );

const described = ({ name, description }: { name: string; description?: string | null | undefined }) => ({
  name,
  ...(description ? { description } : {}),
});

/** A map under a name, or nothing when it would be empty. */
export const unlessEmpty = <Name extends string, Entries extends object>(
  name: Name,
  entries: Entries,
): Partial<Record<Name, Entries>> =>
  Object.keys(entries).length === 0 ? {} : ({ [name]: entries } as Record<Name, Entries>); // of that name
