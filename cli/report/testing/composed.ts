import type { Section, Thing } from "../changeSet.ts";

/** The effects of a change, place by place: the values before and after it. */
export type Effects = ReadonlyMap<string, Effect>;

interface Effect {
  before: unknown;
  after: unknown;
}

const here = "is there";
const last = (name: string): string => name.slice(name.lastIndexOf("/") + 1);

/** The effects of a section, each thing under the name that `nameOf` gives it. */
function effectsIn({ things }: Section, nameOf: (thing: Thing) => string): Map<string, Effect> {
  const effects = new Map<string, Effect>();
  for (const thing of things) {
    const at = (...path: string[]): string => JSON.stringify([thing.kind, nameOf(thing), ...path]);
    const existence = (op: string): Effect => ({
      before: op === "add" ? undefined : here,
      after: op === "remove" ? undefined : here,
    });
    if (thing.op === "add" || thing.op === "remove") effects.set(at(), existence(thing.op));
    // A new key of a team's organization counts once, for the organization.
    else if (thing.formerly !== undefined && last(thing.formerly) !== last(thing.name))
      effects.set(at("called"), { before: last(thing.formerly), after: last(thing.name) });
    for (const { kind, op, name, fields } of thing.changes) {
      if (kind !== "setting" && op !== "change") effects.set(at(kind, name), existence(op));
      for (const { name: field, before, after } of fields) {
        // It acts when a user is invited, so it is nothing to who comes out of a roster.
        if (field !== "targetRoute") effects.set(at(kind, name, field), { before, after });
      }
    }
  }
  return effects;
}

type Renaming = (kind: string, name: string) => string;

/** The new name of a thing in a change; with `back` the former one. A thing that comes or goes has one name. */
const renaming =
  ({ things }: Section, back = false): Renaming =>
  (kind, name) => {
    const from = (thing: Thing): string | undefined => (back ? thing.name : (thing.formerly ?? thing.name));
    const found = things.find((thing) => thing.kind === kind && thing.op !== "remove" && from(thing) === name);
    return found ? (back ? (found.formerly ?? found.name) : found.name) : name;
  };

const isRemoved = ({ things }: Section, kind: string, name: string): boolean =>
  things.some((thing) => thing.kind === kind && thing.op === "remove" && thing.name === name);

/** A name with its organization's final name. */
const inOrganization = (name: string, ended: (organization: string) => string): string =>
  name.includes("/") ? `${ended(name.slice(0, name.lastIndexOf("/")))}/${last(name)}` : name;

/** The effects of one change: a thing has the name that it has in the end; one that is gone, the name that it had. */
export const effectsOf = (section: Section): Effects =>
  effectsIn(section, ({ name }) =>
    inOrganization(name, (organization) => renaming(section)("organization", organization)),
  );

/** Combines two changes in a row: an effect that the second undoes is gone. */
export function composed(first: Section, second: Section): Effects {
  const [forth, back] = [renaming(second), renaming(first, true)];
  /** The name in the end of what has this name between the two. */
  const ended = (kind: string, name: string): string =>
    isRemoved(second, kind, name) ? back(kind, name) : forth(kind, name);
  const organization = (name: string): string => ended("organization", name);
  const effects = effectsIn(first, ({ kind, op, name }) =>
    op === "remove"
      ? inOrganization(name, (one) => organization(renaming(first)("organization", one)))
      : inOrganization(ended(kind, name), () => organization(name.split("/")[0] ?? "")),
  );
  const later = effectsIn(second, ({ kind, op, name }) =>
    op === "remove" ? inOrganization(back(kind, name), () => organization(name.split("/")[0] ?? "")) : name,
  );
  for (const [path, { before, after }] of later)
    effects.set(path, { before: effects.has(path) ? effects.get(path)?.before : before, after });
  const comesOrGoes = (path: string): boolean =>
    path.endsWith('"called"]') && effects.has(JSON.stringify((JSON.parse(path) as string[]).slice(0, 2)));
  return new Map(
    [...effects].filter(
      ([path, { before, after }]) => JSON.stringify(before) !== JSON.stringify(after) && !comesOrGoes(path),
    ),
  );
}
