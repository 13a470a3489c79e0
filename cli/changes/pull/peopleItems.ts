import { role as roles } from "../../../provider/contract/members.ts";
import { isObject } from "../../../provider/contract/wire.ts";
import type { DeclaredThing as DeclaredThing } from "../../../provider/environment/things/things.ts";
import { toPlainValue } from "../../../provider/layers/document.ts";
import { massDisappearance } from "../../../provider/reconcile/guards.ts";
import { matcher } from "../../../provider/reconcile/rosters.ts";
import type { FileEdit } from "../../edits/edits.ts";
import { secretText, type Change } from "../model/changeSet.ts";
import { fieldOf } from "../model/values.ts";
import { refuseEnded, type PersonChange } from "../placing/peoplePlacing.ts";
import type { MakeItem, PullItem, SeenResource, Stranger } from "./findings.ts";
import { PullRefusal, type Layout } from "./layout.ts";
import { toShare } from "./rowItems.ts";

type Values = Readonly<Record<string, unknown>>;
type Path = readonly string[];

/** Where people are taken into the files. */
interface Place {
  thing: DeclaredThing | undefined;
  layout: Layout;
  makeItem: MakeItem;
}

const toChange = (op: Change["op"], name: string, before?: unknown, after?: unknown): Change => ({
  ...{ kind: "person", op, name },
  fields: op === "remove" ? [] : [fieldOf("role", before, after)],
});

/** Sets the role of a person who stands at a path: as the value, or in the map that it is. */
function setRole(layout: Layout, path: Path, role: unknown): FileEdit[] {
  const written = layout.find(path);
  const isMap = written !== undefined && isObject(toPlainValue(written.value));
  return layout.set(isMap ? [...path, "role"] : path, role);
}

/** The role that the files have at a path; undefined where they have nobody. */
function roleAt(layout: Layout, path: Path): unknown {
  const written = layout.find(path);
  const value = written && toPlainValue(written.value);
  return isObject(value) ? value["role"] : value;
}

/** Takes what became of one membership. */
export function listMemberItems({ resource, applied, found }: SeenResource, place: Place): PullItem[] {
  const { thing, layout, makeItem } = place;
  const email =
    [applied["email"], applied["memberUserID"], resource.name].find((name) => typeof name === "string") ?? "";
  if (!found) {
    if (!thing || !layout.find(thing.path)) return [];
    return [makeItem(toChange("remove", email), ({ path }) => layout.takeOut(path))];
  }
  const [was, is] = [applied["role"], found["role"]];
  if (was === is || typeof is !== "string" || (thing && roleAt(layout, thing.path) === is)) return [];
  return [makeItem(toChange("change", email, was, is), ({ path }) => setRole(layout, path, is))];
}

/** Takes what became of the people of a roster, who stand in its members or in the file that it names. */
export async function listRosterItems(seen: SeenResource, place: Place): Promise<PullItem[]> {
  const { thing, layout, makeItem } = place;
  const { applied, found = {} } = seen;
  const [was, is] = [rolesIn(applied), rolesIn(found)];
  const changed = [...new Set([...was.keys(), ...is.keys()])].filter((name) => was.get(name) !== is.get(name));
  if (changed.length === 0) return [];
  if (applied["sensitive"] === true) return [makeItem(toChange("change", secretText), refuseSecret)];
  const edit = await rosterEditor(thing, layout);
  const missing = [...was.keys()].filter((name) => !is.has(name)).length;
  const guard = massDisappearance("members", missing, was.size, toShare(applied["maxRemovals"]));
  return changed.flatMap((name) => {
    const [before, after] = [was.get(name), is.get(name)];
    if (edit.roleOf(name) === after) return [];
    const op = after === undefined ? "remove" : before === undefined ? "add" : "change";
    return makeItem(toChange(op, name, before, after), () => {
      if (after === undefined && guard !== undefined) throw new PullRefusal(guard);
      return edit.make({ do: op, name, ...(typeof after === "string" ? { role: after } : {}) });
    });
  });
}

const refuseSecret = (): FileEdit[] => {
  throw new PullRefusal("its people are secret: they are never written into a file");
};

/**
 * Takes people of a team whom nobody declares. `roster` is the roster of the team, if it has one; whom this leaves alone by
 * `ignore` stays out.
 */
export async function listStrangerItems(
  strangers: readonly Stranger[],
  { roster, layout, makeItem }: Omit<Place, "thing"> & { roster: DeclaredThing | undefined },
): Promise<PullItem[]> {
  const edit = roster && (await rosterEditor(roster, layout));
  const ignored = patternsOf(roster?.inputs["ignore"]).map(matcher);
  return strangers.flatMap(({ name, role }) => {
    if (ignored.some((matches) => matches(name))) return [];
    return makeItem(toChange("add", name, undefined, role), ({ path }) => {
      const { data } = roles.safeParse(role);
      if (data === undefined)
        throw new PullRefusal(`its role on the platform is ${String(role)}, which files can't have`);
      if (edit) return edit.make({ do: "add", name, role: data });
      const place = [...path, "members", name];
      if (layout.find(place)) throw refuseEnded(name, "the files");
      return layout.set(place, data);
    });
  });
}

const patternsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((each): each is string => typeof each === "string") : [];

const rolesIn = ({ members }: Values): Map<string, unknown> =>
  new Map(isObject(members) ? Object.entries(members) : []);

/** The people of a roster in the files. */
interface RosterEditor {
  /** The role that somebody has there; undefined for who is not there. */
  roleOf: (name: string) => unknown;
  /** May throw a refusal. */
  make: (change: PersonChange) => FileEdit[];
}

async function rosterEditor(thing: DeclaredThing | undefined, layout: Layout): Promise<RosterEditor> {
  const { source, team } = thing?.inputs ?? {};
  if (typeof source === "string") {
    const people = await layout.readPeople(source, typeof team === "string" ? team : undefined);
    return {
      roleOf: (name) => {
        const row = people.rows.get(name.toLowerCase());
        return row && (row["role"] || "member");
      },
      make: (change) => layout.changePerson(people, change),
    };
  }
  const pathOf = (name: string): Path => [...(thing?.path ?? []), "members", name];
  return {
    roleOf: (name) => roleAt(layout, pathOf(name)),
    make: ({ do: verb, name, role }) => {
      if (verb === "remove") return layout.takeOut(pathOf(name));
      if (verb === "add" && layout.find(pathOf(name))) throw refuseEnded(name, "the files");
      return setRole(layout, pathOf(name), role);
    },
  };
}
