import type { Declaration } from "../../../provider/environment/declaration.ts";
import { nameSides, orderChanges, orderThings, type ChangeSet, type Section, type Thing } from "../model/changeSet.ts";
import type { Declared } from "../model/source.ts";
import { fieldsOf, settingChanges } from "../model/values.ts";
import { compareDeclarations } from "../plan/plans.ts";

/** Properties that say what a run may do to rows and people, and nothing of these: they must not hide a difference. */
const ofRuns = ["mode", "onConflict", "maxRemovals", "minAdmins", "keepSelf"] as const;

type Seeds = Declaration["seeds"];
type Team = NonNullable<Declaration["organizations"][string]["teams"]>[string];

/** Settings that say where rows and people stand: a platform has none of them. */
const ofFiles: readonly string[] = ["source", "team"];

/**
 * Compares two declarations as contents: no guard of either hides or refuses anything.
 * @param isPlatform true if one side is what a platform has, which keeps rows and people in no file
 */
export async function compareContents(from: Declared, to: Declared, isPlatform = false): Promise<Section> {
  const { section } = await compareDeclarations({ base: unguarded(from), head: unguarded(to) });
  const before = guardsOf(from.declaration);
  const after = guardsOf(to.declaration);
  const things = new Map(
    section.things.map((thing) => [`${thing.kind} ${thing.name}`, { ...thing, guards: [] as string[] }]),
  );
  for (const [key, { kind, name, values, path }] of after) {
    const was = before.get(key);
    const fields = was ? fieldsOf(was.values, values) : [];
    if (fields.length === 0) continue;
    const settings = settingChanges(fields, (field) => to.place([...path, field]));
    const thing = things.get(key);
    const empty: Thing = { kind, name, op: "change", changes: [], omitted: 0, notes: [], guards: [] };
    things.set(key, { ...(thing ?? empty), changes: orderChanges([...(thing?.changes ?? []), ...settings]) });
  }
  const found = [...things.values()];
  return { ...section, things: orderThings(isPlatform ? found.flatMap(withoutFiles) : found) };
}

/** A thing without the settings that say where its rows or people stand; none where nothing else differs. */
function withoutFiles(thing: Thing): Thing[] {
  if (thing.op !== "change") return [thing];
  const changes = thing.changes.filter(({ kind, name }) => kind !== "setting" || !ofFiles.includes(name));
  const tallies = [thing.rows, thing.people].map((tally) => (tally ? tally.add + tally.change + tally.remove : 0));
  const isSame = changes.length + thing.omitted + thing.notes.length === 0 && tallies.every((count) => count === 0);
  return isSame ? [] : [{ ...thing, changes }];
}

/** The set of changes that the renderers of reports take. */
export const toComparison = (from: string, to: string, change: Section, notes: readonly string[] = []): ChangeSet => ({
  version: 1,
  kind: "changes",
  flags: [],
  environments: [{ name: nameSides(from, to), change, problems: [], flags: [], notes: [...notes] }],
});

function unguarded(declared: Declared): Declared {
  const { declaration } = declared;
  const open = { maxRemovals: 1, mode: "exact", onConflict: "overwrite" } as const;
  const seeds: Seeds = Object.fromEntries(
    Object.entries(declaration.seeds).map(([name, seed]) => [name, { ...seed, ...open }]),
  );
  const organizations = Object.fromEntries(
    Object.entries(declaration.organizations).map(([name, { teams, ...organization }]) => [
      name,
      { ...organization, ...(teams && { teams: mapValues(teams, openTeam) }) },
    ]),
  );
  return { ...declared, rules: [], declaration: { ...declaration, rules: [], seeds, organizations } };
}

const openTeam = ({ roster, ...team }: Team): Team => {
  if (!roster) return team;
  return { ...team, roster: { ...roster, mode: "authoritative", maxRemovals: 1, minAdmins: 0, keepSelf: false } };
};

const mapValues = <Value>(
  map: Readonly<Record<string, Value>>,
  change: (value: Value) => Value,
): Record<string, Value> => Object.fromEntries(Object.entries(map).map(([name, value]) => [name, change(value)]));

interface Guards {
  kind: Thing["kind"];
  name: string;
  values: Readonly<Record<string, unknown>>;
  path: readonly string[];
}

function guardsOf({ seeds, organizations }: Declaration): Map<string, Guards> {
  const guards = new Map<string, Guards>();
  const add = (kind: Thing["kind"], name: string, values: object, path: readonly string[]): void => {
    const own = Object.fromEntries(
      Object.entries(values).filter(([key]) => (ofRuns as readonly string[]).includes(key)),
    );
    guards.set(`${kind} ${name}`, { kind, name, values: own, path });
  };
  for (const [name, seed] of Object.entries(seeds)) add("seed", name, seed, ["seeds", name]);
  for (const [organization, { teams = {} }] of Object.entries(organizations)) {
    for (const [name, { roster }] of Object.entries(teams)) {
      if (roster)
        add("team", `${organization}/${name}`, roster, ["organizations", organization, "teams", name, "roster"]);
    }
  }
  return guards;
}
