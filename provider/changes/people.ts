import type { Declaration } from "../environment/declaration.ts";
import { planRoster, type Role, type RosterMember } from "../reconcile/rosters.ts";
import { noTally, type Change, type Field, type Tally } from "./model/changeSet.ts";
import { fieldOf, fieldsOf } from "./model/values.ts";

type Team = NonNullable<Declaration["organizations"][string]["teams"]>[string];

/** A person as a file declares them: by the address in lower case. */
interface Person {
  email: string;
  settings: Readonly<Record<string, unknown>>;
  path: readonly string[];
}

/** Everybody whom a team declares, in its members or in its roster. */
export function peopleOf({ members = {}, roster }: Team): Map<string, Person> {
  const people = [
    ...Object.entries(members).map(([email, member]) => ({
      email,
      settings: typeof member === "string" ? { role: member } : member,
      path: ["members", email],
    })),
    ...Object.entries(roster?.members ?? {}).map(([email, role]) => ({
      email,
      settings: { role },
      path: ["roster", "members", email],
    })),
  ];
  return new Map(people.map((person) => [person.email.toLowerCase(), person]));
}

export interface PeopleChanges {
  changes: Change[];
  tally: Tally;
  guards: string[];
}

/** Compares the people of a team; `place` finds the place of a path below the team. */
export function comparePeople(
  before: Team,
  after: Team,
  place: (path: readonly string[], isBase: boolean) => string,
): PeopleChanges {
  const [was, is] = [peopleOf(before), peopleOf(after)];
  const tally = noTally();
  const changes: Change[] = [];
  const add = (op: Change["op"], { email, path }: Person, fields: Field[]): void => {
    tally[op]++;
    changes.push({ kind: "person", op, name: email, fields, place: place(path, op === "remove") });
  };
  for (const [key, person] of was) {
    if (!is.has(key)) add("remove", person, rolesOf(person, undefined));
  }
  for (const [key, person] of is) {
    const former = was.get(key);
    if (!former) {
      add("add", person, fieldsOf({}, person.settings));
      continue;
    }
    const fields = fieldsOf(former.settings, person.settings);
    if (fields.length > 0) add("change", person, fields);
    else tally.same++;
  }
  return { changes, tally, guards: guardsOf(was, is, after) };
}

const rolesOf = ({ settings: { role } }: Person, after: undefined): Field[] =>
  role === undefined ? [] : [fieldOf("role", role, after)];

/** Why the roster would refuse this, if the team is as the base declares it. */
function guardsOf(was: ReadonlyMap<string, Person>, is: ReadonlyMap<string, Person>, { roster }: Team): string[] {
  if (!roster) return [];
  const roleOf = ({ settings: { role } }: Person): Role | undefined =>
    role === "admin" || role === "member" ? role : undefined;
  const live = [...was].map(([email, person]): RosterMember => ({ userID: email, email, role: roleOf(person) }));
  const wanted = [...is].map(([email, person]) => ({ email, role: roleOf(person) }));
  const { mode, ignore, maxRemovals, minAdmins } = roster;
  return planRoster(wanted, live, { mode, ignore, maxRemovals, minAdmins }).refusals;
}
