import { nameBelow, rootName, type LogicalName } from "../../../sdk/logicalNames.ts";
import type { Declaration } from "../../environment/declaration.ts";
import { formerKeys } from "../../environment/formerKeys.ts";
import { generatedApp } from "../../resources/generatedApp.ts";
import { organization } from "../../resources/organization.ts";
import { team } from "../../resources/team.ts";
import { teamMember } from "../../resources/teamMember.ts";
import { teamRoster } from "../../resources/teamRoster.ts";
import {
  noTally,
  notCompared,
  ordered,
  orderedChanges,
  type Change,
  type Section,
  type Tally,
  type Thing,
} from "../model/changeSet.ts";
import { fieldsOf, settingChanges } from "../model/values.ts";
import type { Declared } from "../source.ts";
import { pendingSeed } from "./pendingSeeds.ts";
import type { State, StateResource } from "./state.ts";
import { Search, type Found } from "./stateSearch.ts";
import { applied, declaredSettings, type Shaped } from "./stateSettings.ts";

/** The types of resources that an Environment makes. */
const ours = ["Organization", "Team", "TeamMember", "TeamRoster", "SeedRows", "GeneratedApp"];

/** What an `up` would do: the state against the declaration. Offline, and no secret of the state is opened. */
export async function pending(state: State, declared: Declared): Promise<Section> {
  const roots = state.resources.filter(({ kind }) => kind === "Environment");
  const own = state.resources.filter(({ kind }) => ours.includes(kind));
  if (roots.length > 1)
    return notCompared(`the state has ${roots.length} Environments, and nothing says which one this is`);
  if (roots.length === 0 && own.length > 0) {
    return notCompared("the state has no Environment: the program declares its resources itself");
  }
  const name = roots[0]?.name ?? "environment";
  const search = new Search(own.filter((each) => each.name.startsWith(`${name}/`)));
  const root = rootName(name, undefined);
  const things: Found[] = [...organizationsOf(search, root, declared), ...appsOf(search, root, declared)];
  for (const key of declared.declaration.seedOrder) things.push(await pendingSeed(search, root, key, declared));
  things.push(...search.left().map(removal));
  const calls = things.reduce((sum, { calls }) => sum + calls, 0);
  const found = things.flatMap(({ thing }) => thing ?? []);
  const unread = things.flatMap(({ unread }) => unread ?? []);
  const reasons = [...(state.interrupted > 0 ? [interrupted(state.interrupted)] : []), ...unread];
  const why = reasons.length === 0 ? {} : { why: reasons.join("; ") };
  return { compared: true, ...why, things: ordered(found), calls };
}

const interrupted = (count: number): string =>
  `a run was interrupted while it worked on ${count} ${count === 1 ? "resource" : "resources"}, which the next one looks at first`;

const kinds: Record<string, Thing["kind"]> = {
  Organization: "organization",
  Team: "team",
  SeedRows: "seed",
  GeneratedApp: "app",
};

/** What left the declaration and is in the state. */
function removal({ kind, name, values }: StateResource): Found {
  const parts = name.split("/").slice(1);
  const count = values["rowCount"];
  const rows: { rows?: Tally } =
    kind === "SeedRows" && typeof count === "number" ? { rows: { ...noTally(), remove: count } } : {};
  const notes = values["onDestroy"] === "retain" ? ['onDestroy is "retain": the rows stay on the platform'] : [];
  const isPerson = kind === "TeamMember";
  const shown = isPerson ? parts.slice(0, -1) : parts;
  return {
    thing: {
      kind: kinds[kind] ?? (isPerson || kind === "TeamRoster" ? "team" : "resource"),
      name: shown.join("/"),
      op: "remove",
      ...rows,
      changes: isPerson ? [{ kind: "person", op: "remove", name: parts.at(-1) ?? "", fields: [] }] : [],
      omitted: 0,
      notes,
      guards: [],
    },
    calls: rows.rows ? rows.rows.remove + 1 : 1,
  };
}

function organizationsOf(search: Search, root: LogicalName, declared: Declared): Found[] {
  return Object.entries(declared.declaration.organizations).flatMap(([key, { teams = {}, formerly, ...args }]) => {
    const name = nameBelow(root, key, formerKeys(formerly));
    const path = ["organizations", key];
    const own = settled(search.find("Organization", name), organization, args, path, declared);
    const teamsOf = Object.entries(teams).map(([teamKey, each]) =>
      teamOf(search, nameBelow(name, teamKey, formerKeys(each.formerly)), each, [...path, "teams", teamKey], declared),
    );
    return [found("organization", key, own, declared.place(path)), ...teamsOf];
  });
}

type Team = NonNullable<Declaration["organizations"][string]["teams"]>[string];

function teamOf(search: Search, name: LogicalName, each: Team, path: string[], declared: Declared): Found {
  const { members = {}, roster, formerly: _, ...args } = each;
  const own = settled(search.find("Team", name), team, args, path, declared);
  const changes = [...own.changes];
  const tally = noTally();
  const addChange = (change: Change | undefined): void => {
    if (!change) return;
    tally[change.op]++;
    changes.push(change);
  };
  for (const [email, member] of Object.entries(members)) {
    const settings = typeof member === "string" ? { role: member } : member;
    const state = search.find("TeamMember", nameBelow(name, email.toLowerCase()));
    addChange(person(state, email, settings, declared.place([...path, "members", email])));
  }
  const names = [name.now, ...name.own, ...name.inherited];
  for (const { name: departed } of search.leftBelow("TeamMember", names)) {
    addChange({ kind: "person", op: "remove", name: departed.slice(departed.lastIndexOf("/") + 1), fields: [] });
  }
  if (roster)
    rosterOf(search, name, roster, [...path, "roster"], declared).forEach((change) =>
      change.kind === "person" ? addChange(change) : changes.push(change),
    );
  tally.same = Object.keys(members).length + Object.keys(roster?.members ?? {}).length - tally.add - tally.change;
  const logical = `${path[1] ?? ""}/${path[3] ?? ""}`;
  const foundTeam = found("team", logical, { ...own, changes }, declared.place(path));
  const { add, change, remove } = tally;
  const calls = (own.changes.length > 0 || own.isNew ? 2 : 0) + (add > 0 ? 2 : 0) + change + remove;
  return { thing: foundTeam.thing && { ...foundTeam.thing, people: tally }, calls };
}

function person(state: StateResource | undefined, email: string, settings: object, place: string): Change | undefined {
  if (!state) return { kind: "person", op: "add", name: email, fields: fieldsOf({}, { ...settings }), place };
  const fields = applied(state, declaredSettings(teamMember, settings));
  return fields.length === 0 ? undefined : { kind: "person", op: "change", name: email, fields, place };
}

type Roster = NonNullable<Team["roster"]>;

function rosterOf(search: Search, team: LogicalName, roster: Roster, path: string[], declared: Declared): Change[] {
  const state = search.find("TeamRoster", nameBelow(team, "roster"));
  const known = state?.values["members"];
  const was = new Map(
    typeof known === "object" && known !== null
      ? Object.entries(known).map(([email, role]) => [email.toLowerCase(), [email, role as unknown]] as const)
      : [],
  );
  const changes: Change[] = [];
  for (const [email, role] of Object.entries(roster.members)) {
    const place = declared.place([...path, "members", email]);
    const [, before] = was.get(email.toLowerCase()) ?? [];
    was.delete(email.toLowerCase());
    if (before === undefined)
      changes.push({ kind: "person", op: "add", name: email, fields: fieldsOf({}, { role }), place });
    else if (before !== role)
      changes.push({ kind: "person", op: "change", name: email, fields: fieldsOf({ role: before }, { role }), place });
  }
  const isAuthoritative = roster.mode === "authoritative";
  for (const [email, role] of was.values()) {
    if (isAuthoritative) changes.push({ kind: "person", op: "remove", name: email, fields: fieldsOf({ role }, {}) });
  }
  if (!state) return changes;
  const { members: _, ...settings } = roster;
  const fields = applied(state, declaredSettings(teamRoster, settings, ["members"]));
  return [...changes, ...settingChanges(fields, (name) => declared.place([...path, name]))];
}

interface Settled {
  isNew: boolean;
  changes: Change[];
  /** Whether one of them makes a new thing. */
  replaces: boolean;
}

/** Settings that an update would change. */
export function settled(
  state: StateResource | undefined,
  resource: Shaped,
  args: object,
  path: readonly string[],
  declared: Declared,
  omit: readonly string[] = [],
): Settled {
  if (!state) return { isNew: true, changes: [], replaces: false };
  const settings = declaredSettings(resource, args, omit);
  const fields = applied(state, settings);
  const changes = settingChanges(fields, (name) => declared.place([...path, name]));
  return { isNew: false, changes, replaces: fields.some(({ name }) => settings.replacing.has(name)) };
}

/** A thing with what is pending of it; none where that is nothing. */
export function found(kind: Thing["kind"], name: string, { isNew, changes, replaces }: Settled, place: string): Found {
  if (!isNew && changes.length === 0) return { calls: 0 };
  const op = isNew ? "add" : replaces ? "replace" : "change";
  const thing: Thing = { kind, name, op, place, changes: orderedChanges(changes), omitted: 0, notes: [], guards: [] };
  return { thing, calls: 2 };
}

function appsOf(search: Search, root: LogicalName, declared: Declared): Found[] {
  return Object.entries(declared.declaration.apps).map(
    ([key, { formerly, wait: _, timeout: __, statusWords: ___, ...args }]) => {
      const path = ["apps", key];
      const state = search.find("GeneratedApp", nameBelow(root, key, formerKeys(formerly)));
      return found("app", key, settled(state, generatedApp, args, path, declared), declared.place(path));
    },
  );
}
