import { isObject } from "../../../provider/contract/wire.ts";
import { findDeclared, type PeoplePlace } from "../../../provider/resources/members/declaredPeople.ts";
import { describeOver, describeSoon, splitEnds, type Ends } from "../../../provider/resources/members/ends.ts";
import { holdsSealed, type StateResource } from "../state/state.ts";

type Values = Readonly<Record<string, unknown>>;

/** True if no report may name the people of a resource. */
const isSecretPeople = ({ values }: StateResource, clear: Values): boolean =>
  clear["sensitive"] === true || holdsSealed(values["email"]) || holdsSealed(values["members"]);

/** Names the people of a state whose end has passed, who leave with the next up, and those who end soon. */
export async function describeEnds(each: StateResource, values: Values, place: PeoplePlace): Promise<string[]> {
  const ends = await endsOf(each.kind, values, place);
  if (!ends) return [];
  const isHidden = isSecretPeople(each, values);
  const team = each.kind === "TeamRoster" ? each.name.replace(/\/roster$/, "") : each.name.replace(/\/[^/]*$/, "");
  const members = isObject(values["members"]) ? values["members"] : undefined;
  const isThere = (name: string): boolean => members === undefined || Object.hasOwn(members, name);
  const over = describeOver(ends, isHidden, isThere).map((text) => `${text}; the next up removes them`);
  return [...over, ...describeSoon(ends, isHidden)].map((text) => `${team}: ${text}`);
}

async function endsOf(kind: string, values: Values, place: PeoplePlace): Promise<Ends | undefined> {
  const { until, source, team, email, memberUserID, ended } = values;
  if (kind === "TeamMember") {
    if (typeof until !== "string" || ended === true) return undefined;
    return splitEnds([{ name: typeof email === "string" ? email : String(memberUserID), until }], place.day);
  }
  if (kind !== "TeamRoster") return undefined;
  if (typeof source === "string") {
    const file = { source, team: typeof team === "string" ? team : undefined };
    return (await findDeclared(file, place)).ends;
  }
  if (!isObject(until)) return undefined;
  const people = Object.entries(until).map(([name, day]) => ({ name, until: String(day) }));
  return splitEnds(people, place.day);
}
