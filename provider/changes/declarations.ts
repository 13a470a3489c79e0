import type { Declaration } from "../environment/declaration.ts";
import { ordered, type Note, type Section, type Thing } from "./model/changeSet.ts";
import { paired, settingsOf, thingOf, type Both, type Pair } from "./pairs.ts";
import { comparePeople } from "./people.ts";
import { compareSeed } from "./seeds.ts";
import { undeclaredRemovals } from "./undeclared.ts";

type Organization = Declaration["organizations"][string];
type Team = NonNullable<Organization["teams"]>[string];

/** What changes between two declarations, and what is wrong with the rows of the later one. */
export async function compareDeclarations(both: Both): Promise<{ section: Section; problems: Note[] }> {
  const problems: Note[] = [];
  const things: Thing[] = [...organizationsOf(both), ...appsOf(both)];
  for (const pair of paired(both.base.declaration.seeds, both.head.declaration.seeds)) {
    const { thing, problems: found } = await compareSeed(both, pair);
    if (thing) things.push(thing);
    problems.push(...found);
  }
  const guarded = things.map((thing) => ({
    ...thing,
    guards: [...thing.guards, ...undeclaredRemovals(both, thing)],
  }));
  return { section: { compared: true, things: ordered(guarded) }, problems };
}

function organizationsOf({ base, head }: Both): Thing[] {
  return paired(base.declaration.organizations, head.declaration.organizations).flatMap((pair) => {
    const path = (isBase: boolean): string[] => ["organizations", isBase ? pair.keys.base : pair.keys.head];
    const place = (name: string, isBase: boolean) => (isBase ? base : head).place([...path(isBase), name]);
    const { before, after } = pair;
    const changes = settingsOf(before ?? {}, after ?? {}, ["teams", "formerly"], place);
    const own = thingOf("organization", pair, (after ? head : base).place(path(!after)), changes);
    const teams = paired(before?.teams ?? {}, after?.teams ?? {}).flatMap(
      (team) => teamOf({ base, head }, { base: path(true), head: path(false) }, pair, team) ?? [],
    );
    return own ? [own, ...teams] : teams;
  });
}

function teamOf(
  { base, head }: Both,
  above: { base: string[]; head: string[] },
  organization: Pair<Organization>,
  pair: Pair<Team>,
): Thing | undefined {
  const place = (path: readonly string[], isBase: boolean): string =>
    isBase
      ? base.place([...above.base, "teams", pair.keys.base, ...path])
      : head.place([...above.head, "teams", pair.keys.head, ...path]);
  const { before = emptyTeam, after = emptyTeam } = pair;
  const { changes: people, tally, guards } = comparePeople(before, after, place);
  const settings = [
    ...settingsOf(before, after, ["members", "roster", "formerly"], (name, isBase) => place([name], isBase)),
    ...settingsOf(before.roster ?? {}, after.roster ?? {}, ["members"], (name, isBase) =>
      place(["roster", name], isBase),
    ),
  ];
  const formerly = `${organization.formerly ?? organization.name}/${pair.formerly ?? pair.name}`;
  // A team that goes is called as the base has it, whatever its organization is called now.
  const name = pair.after ? `${organization.name}/${pair.name}` : formerly;
  const renamed = { ...pair, name, ...(pair.before && formerly !== name ? { formerly } : {}) };
  const thing = thingOf("team", renamed, place([], !pair.after), [...settings, ...people]);
  return thing && { ...thing, people: tally, guards: pair.after ? guards : [] };
}

/** A team that is not there, on either side. */
const emptyTeam = {} as Team; // what it lacks is what a comparison shows

function appsOf({ base, head }: Both): Thing[] {
  return paired(base.declaration.apps, head.declaration.apps).flatMap((pair) => {
    const place = (name: string, isBase: boolean): string =>
      (isBase ? base : head).place(["apps", isBase ? pair.keys.base : pair.keys.head, ...(name === "" ? [] : [name])]);
    const changes = settingsOf(pair.before ?? {}, pair.after ?? {}, ["formerly"], place);
    const thing = thingOf("app", pair, place("", !pair.after), changes);
    if (!thing) return [];
    const stays = pair.after ? [] : ["the app stays on the platform: there is no way to delete one"];
    return [{ ...thing, notes: [...thing.notes, ...stays] }];
  });
}
