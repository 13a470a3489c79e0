import { nameBelow, rootName, type LogicalName } from "../../../sdk/logicalNames.ts";
import { formerKeys } from "../../environment/formerKeys.ts";
import { numbered } from "../../messages/text.ts";
import { generatedApp } from "../../resources/generatedApp.ts";
import { organization } from "../../resources/organization.ts";
import { team } from "../../resources/team.ts";
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
import { settingChanges } from "../model/values.ts";
import type { Declared } from "../source.ts";
import { peopleLeaving, peopleOf, type PendingPeople, type Team } from "./pendingPeople.ts";
import { pendingSeed } from "./pendingSeeds.ts";
import type { State, StateResource } from "./state.ts";
import { Search, type Found } from "./stateSearch.ts";
import { applied, declaredSettings, managed, type Shaped } from "./stateSettings.ts";

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
  things.push(...removals(search));
  const calls = things.reduce((sum, { calls }) => sum + calls, 0);
  const found = things.flatMap(({ thing }) => thing ?? []);
  const unread = things.flatMap(({ unread }) => unread ?? []);
  const sealed = things.filter(({ isSealed }) => isSealed).length;
  const reasons = [
    ...(state.interrupted > 0 ? [interrupted(state.interrupted)] : []),
    ...(sealed > 0 ? [sealedRows(sealed)] : []),
    ...unread,
  ];
  const why = reasons.length === 0 ? {} : { why: reasons.join("; ") };
  return { compared: true, ...why, things: ordered(found), calls };
}

const sealedRows = (seeds: number): string =>
  `rows of ${numbered(seeds, "seed")} are compared when an update runs: the salt of the digests is encrypted in the state`;

const interrupted = (count: number): string =>
  `a run was interrupted while it worked on ${count} ${count === 1 ? "resource" : "resources"}, which the next one looks at first`;

const kinds: Record<string, Thing["kind"]> = {
  Organization: "organization",
  Team: "team",
  SeedRows: "seed",
  GeneratedApp: "app",
};

/** What left the declaration and is in the state; a team with its people. */
function removals(search: Search): Found[] {
  const teams = search.left().filter(({ kind }) => kind === "Team");
  const people = new Map(teams.map((each) => [each, peopleLeaving(search, each)]));
  return search.left().map((each) => removal(each, people.get(each)));
}

function removal({ kind, name, values }: StateResource, people: PendingPeople | undefined): Found {
  const parts = name.split("/").slice(1);
  const count = values["rowCount"];
  const rows: { rows?: Tally } =
    kind === "SeedRows" && typeof count === "number" ? { rows: { ...noTally(), remove: count } } : {};
  const notes = values["onDestroy"] === "retain" ? ['onDestroy is "retain": the rows stay on the platform'] : [];
  return {
    thing: {
      kind: kinds[kind] ?? "resource",
      name: parts.join("/"),
      op: "remove",
      ...rows,
      ...(people && { people: people.tally }),
      changes: people?.changes ?? [],
      omitted: 0,
      notes,
      guards: [],
    },
    calls: 1 + (rows.rows?.remove ?? 0) + (people?.tally.remove ?? 0),
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

function teamOf(search: Search, name: LogicalName, each: Team, path: string[], declared: Declared): Found {
  const { members: _, roster: __, formerly: ___, ...args } = each;
  const own = settled(search.find("Team", name), team, args, path, declared);
  const { changes, tally } = peopleOf(search, name, each, path, declared);
  const logical = `${path[1] ?? ""}/${path[3] ?? ""}`;
  const { thing } = found("team", logical, { ...own, changes: [...own.changes, ...changes] }, declared.place(path));
  const { add, change, remove } = tally;
  const calls = (own.isNew ? made : own.changes.length > 0 ? 2 : 0) + (add > 0 ? 2 : 0) + change + remove;
  return { thing: thing && { ...thing, people: tally }, calls };
}

interface Settled {
  isNew: boolean;
  changes: Change[];
  /** Whether one of them makes a new thing. */
  replaces: boolean;
}

/** Settings that an update would change. */
function settled(
  state: StateResource | undefined,
  resource: Shaped,
  args: object,
  path: readonly string[],
  declared: Declared,
): Settled {
  if (!state) return { isNew: true, changes: [], replaces: false };
  const settings = declaredSettings(resource, args);
  const fields = resource === generatedApp ? applied(state, settings) : managed(state, settings);
  const changes = settingChanges(fields, (name) => declared.place([...path, name]));
  return { isNew: false, changes, replaces: fields.some(({ name }) => settings.replacing.has(name)) };
}

/** Calls that make an organization or a team: what the answer tells is not read. A change looks first. */
const made = 1;

/** A thing with what is pending of it; none where that is nothing. */
export function found(kind: Thing["kind"], name: string, { isNew, changes, replaces }: Settled, place: string): Found {
  if (!isNew && changes.length === 0) return { calls: 0 };
  const op = isNew ? "add" : replaces ? "replace" : "change";
  const thing: Thing = { kind, name, op, place, changes: orderedChanges(changes), omitted: 0, notes: [], guards: [] };
  return { thing, calls: isNew && kind !== "app" ? made : 2 };
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
