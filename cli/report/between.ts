import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Declaration } from "../../provider/environment/declaration.ts";
import {
  type ChangeSet,
  fieldsOf,
  orderChanges,
  orderThings,
  type Section,
  settingChanges,
  type Thing,
} from "./changeSet.ts";
import { DataRefusal, entryNamed, environmentsFile, readEnvironments } from "./environments.ts";
import { compareDeclarations } from "./section.ts";
import { type Declared, readDeclaration, sound } from "./source.ts";

// Two environments as they are declared: what the files of the one have that those of the other lack.

/** The report of what differs from one environment to another one. Throws a DataRefusal. */
export async function reportBetween(folder: string, from: string, to: string): Promise<ChangeSet> {
  const change = await compareContents(declaredAs(folder, from), declaredAs(folder, to));
  const environment = { name: `${from} → ${to}`, change, problems: [], flags: [], notes: [] };
  return { version: 1, kind: "between", environments: [environment] };
}

/** The declaration of an environment, or of a file that belongs to none. Broken rules count for nothing here. */
function declaredAs(folder: string, name: string): Declared {
  const entries = readEnvironments(folder);
  const isListed = entries?.some((each) => each.name === name || each.stack === name) === true;
  const isFile = !isListed && /\.ya?ml$/i.test(name) && existsSync(resolve(folder, name));
  if (!isFile && !entries)
    throw new DataRefusal(
      `there is no ${environmentsFile} beside Pulumi.yaml that names ${name}: write one, or name the Environment file itself`,
    );
  const file = isFile ? name : entryNamed(entries ?? [], name).file;
  const reading = readDeclaration(file, folder);
  return reading.declared ?? sound(reading, `${name} can't be read`);
}

/** Properties that say what a run may do to rows and people, and nothing of these: they must not hide a difference. */
const ofRuns: readonly string[] = ["mode", "onConflict", "maxRemovals", "minAdmins", "keepSelf"];

/** Settings that name the file of rows or people. */
const ofFiles: readonly string[] = ["source", "team"];

type Team = NonNullable<Declaration["organizations"][string]["teams"]>[string];

/** Compares two declarations as contents: no guard of either hides or refuses anything. */
export async function compareContents(from: Declared, to: Declared): Promise<Section> {
  const { section } = await compareDeclarations({ base: unguarded(from), head: unguarded(to) });
  const things = new Map(section.things.map((thing) => [`${thing.kind} ${thing.name}`, { ...thing, guards: [] }]));
  const before = guardsOf(from.declaration);
  for (const [key, { kind, name, values, path }] of guardsOf(to.declaration)) {
    const was = before.get(key);
    const fields = was ? fieldsOf(was.values, values) : [];
    if (fields.length === 0) continue;
    const settings = settingChanges(fields, (field) => to.place([...path, field]));
    const thing: Thing = things.get(key) ?? {
      ...{ kind, name, op: "change", changes: [], omitted: 0, notes: [], guards: [] },
    };
    things.set(key, { ...thing, changes: orderChanges([...thing.changes, ...settings]), guards: [] });
  }
  return { ...section, things: orderThings([...things.values()].flatMap(withoutFiles)) };
}

/** A thing without the name of its file where rows and people are alike; none where nothing else differs. */
function withoutFiles(thing: Thing): Thing[] {
  const tallies = [thing.rows, thing.people].flatMap((tally) => tally ?? []);
  const isAlike = tallies.every(({ add, change, remove }) => add + change + remove === 0);
  if (thing.op !== "change" || !isAlike) return [thing];
  const changes = thing.changes.filter(({ kind, name }) => kind !== "setting" || !ofFiles.includes(name));
  return changes.length + thing.omitted + thing.notes.length === 0 ? [] : [{ ...thing, changes }];
}

const mapValues = <Value>(
  map: Readonly<Record<string, Value>>,
  change: (value: Value) => Value,
): Record<string, Value> => Object.fromEntries(Object.entries(map).map(([name, value]) => [name, change(value)]));

function unguarded(declared: Declared): Declared {
  const { declaration } = declared;
  const open = { maxRemovals: 1, mode: "exact", onConflict: "overwrite" } as const;
  const seeds = mapValues(declaration.seeds, (seed) => ({ ...seed, ...open }));
  const organizations = mapValues(declaration.organizations, ({ teams, ...organization }) => ({
    ...organization,
    ...(teams && { teams: mapValues(teams, openTeam) }),
  }));
  return { ...declared, rules: [], declaration: { ...declaration, rules: [], seeds, organizations } };
}

const openTeam = ({ roster, ...team }: Team): Team => {
  if (!roster) return team;
  return { ...team, roster: { ...roster, mode: "authoritative", maxRemovals: 1, minAdmins: 0, keepSelf: false } };
};

interface Guards {
  kind: Thing["kind"];
  name: string;
  values: Readonly<Record<string, unknown>>;
  path: readonly string[];
}

function guardsOf({ seeds, organizations }: Declaration): Map<string, Guards> {
  const guards = new Map<string, Guards>();
  const add = (kind: Thing["kind"], name: string, values: object, path: readonly string[]): void => {
    const own = Object.entries(values).filter(([key]) => ofRuns.includes(key));
    guards.set(`${kind} ${name}`, { kind, name, values: Object.fromEntries(own), path });
  };
  for (const [name, seed] of Object.entries(seeds)) add("seed", name, seed, ["seeds", name]);
  for (const [organization, { teams = {} }] of Object.entries(organizations)) {
    for (const [name, { roster }] of Object.entries(teams)) {
      const path = ["organizations", organization, "teams", name, "roster"];
      if (roster) add("team", `${organization}/${name}`, roster, path);
    }
  }
  return guards;
}
