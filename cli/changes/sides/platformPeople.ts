import { today } from "../../../machine/settings/today.ts";
import { isObject } from "../../../provider/contract/wire.ts";
import { matcher } from "../../../provider/reconcile/rosters.ts";

/** An organization with its teams and their people, as a platform has them. */
export interface PlatformOrganization {
  name: string;
  description: string | null;
  teams: readonly PlatformTeam[];
}

interface PlatformTeam {
  name: string;
  description: string | null;
  isAllMembers: boolean;
  members: readonly { userID: string; email: string; role: string }[];
}

type Entry = Readonly<Record<string, unknown>>;

/** The organizations of a declaration as a platform has them, and what else that has. */
export interface PlacedPeople {
  organizations: Record<string, Entry>;
  notes: string[];
  /** Things that can't be looked for. */
  why: string[];
}

/**
 * Finds the organizations and teams of a declaration by their names on a platform. One that is not there is left out.
 * @param written the organizations of the declaration, as files have them
 */
export function placePeople(
  {
    organizations,
    administrator,
  }: { organizations: readonly PlatformOrganization[]; administrator: string | undefined },
  written: unknown,
): PlacedPeople {
  const notes: string[] = [];
  const why: string[] = [];
  const placeTeams = (declared: unknown, there: readonly PlatformTeam[], of: string): Record<string, Entry> => {
    const { met, others, unclear } = matchNames(
      declared,
      there.filter((one) => !one.isAllMembers),
      of,
    );
    why.push(...unclear);
    if (others.length > 0)
      notes.push(`teams of ${of} that the other side has not are not compared: ${others.join(", ")}`);
    return Object.fromEntries(met.map(({ key, entry, found }) => [key, teamEntry(entry, found, administrator)]));
  };
  const { met, others, unclear } = matchNames(written, organizations, "");
  why.push(...unclear);
  if (others.length > 0) notes.push(`organizations that the other side has not are not compared: ${others.join(", ")}`);
  const placed = met.map(({ key, entry, found }) => {
    const { teams, ...own } = entry;
    const all = placeTeams(teams, found.teams, key);
    return [key, { ...described(own, found), ...(Object.keys(all).length > 0 ? { teams: all } : {}) }] as const;
  });
  return { organizations: Object.fromEntries(placed), notes, why };
}

interface Matched<Found> {
  met: { key: string; entry: Entry; found: Found }[];
  others: string[];
  /** Why some can't be looked for. */
  unclear: string[];
}

/** Matches things of a file with those of a platform by the name that people see. */
function matchNames<Found extends { name: string }>(
  written: unknown,
  there: readonly Found[],
  above: string,
): Matched<Found> {
  const result: Matched<Found> = { met: [], others: [], unclear: [] };
  const taken = new Set<Found>();
  const entries = isObject(written) ? Object.entries(written) : [];
  for (const [key, entry] of entries) {
    if (!isObject(entry)) continue;
    const shown = above === "" ? key : `${above}/${key}`;
    const { name } = entry;
    const found = there.filter((one) => one.name === name);
    const twins = entries.filter(([, other]) => isObject(other) && other["name"] === name);
    if (typeof name !== "string") result.unclear.push(`the name of ${shown} comes from the configuration`);
    else if (found.length > 1 || (found.length > 0 && twins.length > 1))
      result.unclear.push(`several are called ${JSON.stringify(name)}, so nothing tells which one is ${shown}`);
    else if (found[0]) result.met.push({ key, entry, found: found[0] });
    for (const one of found) taken.add(one);
  }
  result.others.push(...there.filter((one) => !taken.has(one)).map(({ name }) => name));
  return result;
}

/** The settings of a thing that a platform shows; others stay as the declaration has them. */
function described({ formerly: _, ...entry }: Entry, { description }: { description: string | null }): Entry {
  if (!Object.hasOwn(entry, "description") || isObject(entry["description"])) return entry;
  const { description: _before, ...rest } = entry;
  return description === null || description === "" ? rest : { ...rest, description };
}

function teamEntry(entry: Entry, team: PlatformTeam, administrator: string | undefined): Entry {
  const { members, roster, ...own } = entry;
  const declared = isObject(members) ? members : {};
  const listed = isObject(roster) ? roster : undefined;
  const rostered = listed && isObject(listed["members"]) ? listed["members"] : {};
  const ignored = (Array.isArray(listed?.["ignore"]) ? (listed["ignore"] as unknown[]) : []).map(String).map(matcher);
  const all = { ...rostered, ...declared };
  const people: Record<string, unknown> = {};
  for (const { email, userID, role } of team.members) {
    const name = Object.keys(all).find((one) => one.toLowerCase() === email.toLowerCase() || one === userID) ?? email;
    const isDeclared = Object.hasOwn(all, name);
    // The account that made a team is in it.
    if (!isDeclared && (email === administrator || ignored.some((matches) => matches(email)))) continue;
    people[name] = withRole(all[name], role);
  }
  const isOf = (map: object, name: string): boolean => Object.hasOwn(map, name);
  const inRoster = Object.entries(people).filter(([name]) => listed && !isOf(declared, name));
  const beside = Object.entries(people).filter(([name]) => !listed || isOf(declared, name));
  return {
    ...described(own, team),
    ...(beside.length > 0 ? { members: Object.fromEntries(beside) } : {}),
    ...(listed ? { roster: rosterEntry(listed, Object.fromEntries(inRoster)) } : {}),
  };
}

/** A roster whose people stand in it; those of a file do not stand there as they are on the platform. */
function rosterEntry({ source: _source, team: _team, ...settings }: Entry, members: Entry): Entry {
  return { ...settings, members };
}

/** Somebody with another role, and with a last day that is not over. */
function withRole(entry: unknown, role: string): unknown {
  if (!isObject(entry)) return role;
  const { until, ...rest } = entry;
  const isOver = typeof until === "string" && until < today();
  return { ...rest, ...(until === undefined || isOver ? {} : { until }), role };
}
