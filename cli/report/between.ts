import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { type ChangeSet, orderThings, type Section, type Thing } from "./changeSet.ts";
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

/** Settings that name the file of rows or people. */
const ofFiles: readonly string[] = ["source", "team"];

/** Compares two declarations as contents: no guard of either hides or refuses anything. */
export async function compareContents(base: Declared, head: Declared): Promise<Section> {
  const { section } = await compareDeclarations({ base, head, isOpen: true });
  return { ...section, things: orderThings(section.things.flatMap((thing) => withoutFiles({ ...thing, guards: [] }))) };
}

/** A thing without the name of its file where rows and people are alike; none where nothing else differs. */
function withoutFiles(thing: Thing): Thing[] {
  const tallies = [thing.rows, thing.people].flatMap((tally) => tally ?? []);
  const isAlike = tallies.every(({ add, change, remove }) => add + change + remove === 0);
  if (thing.op !== "change" || !isAlike) return [thing];
  const changes = thing.changes.filter(({ kind, name }) => kind !== "setting" || !ofFiles.includes(name));
  return changes.length + thing.omitted + thing.notes.length === 0 ? [] : [{ ...thing, changes }];
}
