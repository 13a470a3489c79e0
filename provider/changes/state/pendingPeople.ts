import { nameBelow, type LogicalName } from "../../environment/things/logicalNames.ts";
import { isObject } from "../../contract/wire.ts";
import type { Declaration } from "../../environment/declaration.ts";
import { teamMember } from "../../resources/teamMember.ts";
import { teamRoster } from "../../resources/teamRoster.ts";
import { noTally, type Change, type Tally } from "../model/changeSet.ts";
import { fieldOf, fieldsOf, settingChanges } from "../model/values.ts";
import type { Declared } from "../source.ts";
import { holdsSealed, Sealed, type StateResource } from "./state.ts";
import type { Search } from "./stateSearch.ts";
import { declaredSettings, managed } from "./stateSettings.ts";

export type Team = NonNullable<Declaration["organizations"][string]["teams"]>[string];

/** A person of a team as the state has them: by themselves, or in a roster. */
interface Known {
  email: string;
  role: unknown;
  member?: StateResource;
}

export interface PendingPeople {
  changes: Change[];
  tally: Tally;
}

const removed = ({ email, role }: Known): Change => ({
  kind: "person",
  op: "remove",
  name: email,
  fields: role === undefined ? [] : [fieldOf("role", role, undefined)],
});

const lastOf = (name: string): string => name.slice(name.lastIndexOf("/") + 1);

/** A member of the state; hides an address that is secret there. */
function single(member: StateResource): Known {
  const { email, role } = member.values;
  return {
    email: typeof email === "string" ? email : lastOf(member.name),
    role: holdsSealed(role) ? undefined : role,
    member,
  };
}

/** Everybody in a roster of the state, of whom nothing is secret there. */
function inRoster({ values: { members } }: StateResource): Known[] {
  if (!isObject(members) || members instanceof Sealed) return [];
  return Object.entries(members).map(([email, role]) => ({ email, role: holdsSealed(role) ? undefined : role }));
}

/** What is pending of the people of a team, and of how its roster is kept. */
export function peopleOf(
  search: Search,
  name: LogicalName,
  { members = {}, roster }: Team,
  path: readonly string[],
  declared: Declared,
): PendingPeople {
  const wanted = [
    ...Object.entries(members).map(([email, member]) => ({
      email,
      settings: typeof member === "string" ? { role: member } : member,
      place: declared.place([...path, "members", email]),
      state: search.find("TeamMember", nameBelow(name, email.toLowerCase())),
    })),
    ...Object.entries(roster?.members ?? {}).map(([email, role]) => ({
      email,
      settings: { role },
      place: declared.place([...path, "roster", "members", email]),
      state: undefined,
    })),
  ];
  const asRoster = search.find("TeamRoster", nameBelow(name, "roster"));
  const singles = [
    ...wanted.flatMap(({ state }) => state ?? []),
    ...search.leftBelow("TeamMember", [name.now, ...name.own, ...name.inherited]),
  ].map(single);
  const left = new Map(
    [...(asRoster ? inRoster(asRoster) : []), ...singles].map((each) => [each.email.toLowerCase(), each]),
  );
  const changes: Change[] = [];
  for (const { email, settings, place, state } of wanted) {
    const known = left.get(email.toLowerCase());
    left.delete(email.toLowerCase());
    if (!known) {
      changes.push({ kind: "person", op: "add", name: email, fields: fieldsOf({}, { ...settings }), place });
      continue;
    }
    const fields = state ? managed(state, declaredSettings(teamMember, settings)) : roleOf(known, settings.role);
    if (fields.length > 0) changes.push({ kind: "person", op: "change", name: email, fields, place });
  }
  // A roster that removes nobody leaves those whom it does not name any more.
  const stays = ({ member }: Known): boolean =>
    member === undefined && roster !== undefined && roster.mode === "additive";
  changes.push(...[...left.values()].filter((each) => !stays(each)).map(removed));
  const tally = noTally();
  for (const { op } of changes) tally[op]++;
  tally.same = wanted.length - tally.add - tally.change;
  return { changes: [...changes, ...rosterSettings(asRoster, roster, [...path, "roster"], declared)], tally };
}

/** Compares the role alone of somebody who passes from a roster to a list of members, or back. */
const roleOf = ({ role }: Known, wanted: unknown) =>
  role === undefined || wanted === undefined ? [] : fieldsOf({ role }, { role: wanted });

function rosterSettings(
  state: StateResource | undefined,
  roster: Team["roster"],
  path: readonly string[],
  declared: Declared,
): Change[] {
  if (!state || !roster) return [];
  const { members: _, ...settings } = roster;
  const fields = managed(state, declaredSettings(teamRoster, settings, ["members"]));
  return settingChanges(fields, (name) => declared.place([...path, name]));
}

/** Everybody whom a team loses that goes. */
export function peopleLeaving(search: Search, team: StateResource): PendingPeople {
  const people = [
    ...search.leftBelow("TeamRoster", [team.name]).flatMap(inRoster),
    ...search.leftBelow("TeamMember", [team.name]).map(single),
  ];
  const changes = [...new Map(people.map((each) => [each.email.toLowerCase(), removed(each)])).values()];
  return { changes, tally: { ...noTally(), remove: changes.length } };
}
