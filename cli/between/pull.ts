import { role as roles } from "../../platform/contract/people.ts";
import type { RowData } from "../../platform/contract/values.ts";
import { isObject, entryIn } from "../../platform/contract/wire.ts";
import { type SeedDeclaration, withRowEdits } from "../../provider/environment/schema.ts";
import { type DeclaredThing, things } from "../../provider/environment/things.ts";
import { find, toPlainValue } from "../../provider/layers/document.ts";
import { matcher } from "../../provider/people/people.ts";
import { canonical, keyText, type Cells, naturalKey, inForm } from "../../provider/reconcile/digests.ts";
import { massDisappearance } from "../../provider/reconcile/guards.ts";
import { changedLabels } from "../../provider/seedRows/cells.ts";
import { keyOf, withoutIgnored } from "../../provider/seedRows/declaration.ts";
import type { Seed } from "../../provider/seedRows/inputs.ts";
import { read } from "../../provider/seedRows/source/read.ts";
import { type Source, listLinkedLabels, isHidden } from "../../provider/seedRows/source/source.ts";
import { type Change, type Field, secretText, type Section, type Thing, fieldOf, stable } from "../report/changeSet.ts";
import type { Observer } from "../report/drift.ts";
import { DataRefusal, type EnvironmentEntry } from "../report/environments.ts";
import { type Declared, readDeclaration } from "../report/source.ts";
import type { StateResource } from "../report/state.ts";
import { type EditedFile, type FileEdit, planEdits } from "./editor/edits.ts";
import { readToEdit } from "./editor/writing.ts";
import {
  copyEdited,
  EnvironmentFiles,
  filesOfOthers,
  type PersonChange,
  placePerson,
  PlacingRefusal,
  readPeopleRows,
  refuseEnded,
  type RowChange,
  RowPlacing,
  setValue,
  takeOutValue,
} from "./placing.ts";

type Values = Readonly<Record<string, unknown>>;

/** One change by hand, and the edits that take it into the files. */
export interface PullItem {
  kind: Thing["kind"];
  /** The thing as reports name it. */
  thing: string;
  change: Change;
  edits: FileEdit[];
  /** The reason for leaving it. */
  refused?: string;
}

/** Makes an item of a change; the edits are made by `make`, which may throw a refusal. */
export type MakeItem = (change: Change, make: (declared: DeclaredThing) => FileEdit[]) => PullItem;

/** Rows of a seed as a look found them. */
export interface SeenRows {
  changed: Map<string, RowData>;
  foreign: RowData[];
  missing: readonly string[];
}

/** A resource as a look found it. */
export interface SeenResource {
  resource: StateResource;
  applied: Values;
  found: Values | undefined;
  rows: SeenRows | undefined;
  /** Names of settings that a run would put back. */
  changed: readonly string[];
}

/** Somebody in a team whom nobody declares: by address, or by user ID where the platform shows none. */
export interface Stranger {
  name: string;
  /** In the platform's words. */
  role: string | undefined;
}

/** Remembers what a look finds, for `listItems`. */
export class LiveFindings implements Observer {
  readonly all: SeenResource[] = [];
  /** By the name of the team. */
  readonly strangers = new Map<string, readonly Stranger[]>();
  readonly #rows = new Map<StateResource, SeenRows>();
  readonly #foreign: boolean;

  /** @param foreign whether rows and people that nobody owns are kept */
  constructor(foreign: boolean) {
    this.#foreign = foreign;
  }

  watch = (resource: StateResource) => {
    if (resource.kind !== "SeedRows") return undefined;
    const rows: SeenRows = { changed: new Map(), foreign: [], missing: [] };
    this.#rows.set(resource, rows);
    return {
      changed: (key: string, values: RowData) => void rows.changed.set(key, values),
      foreign: (values: RowData) => {
        if (this.#foreign) rows.foreign.push(values);
      },
      missing: (keys: readonly string[]) => {
        rows.missing = keys;
      },
    };
  };

  get others(): Observer["others"] {
    if (!this.#foreign) return undefined;
    return (team, people) => void this.strangers.set(team.name, people);
  }

  found: Observer["found"] = (resource, applied, found, changed) => {
    this.all.push({ resource, applied, found, changed, rows: this.#rows.get(resource) });
  };
}

/** The files after a pull. */
export interface Pulled {
  /** All items; one whose edits can't be made has the reason. */
  items: PullItem[];
  files: EditedFile[];
}

/**
 * Makes the edits of all items that nothing refuses, and reads the result as `up` would read it. Writes nothing. An edit that
 * can't be made takes its whole item out; a result that can't be read takes all of them out.
 */
export async function planPull(items: readonly PullItem[], declared: Declared): Promise<Pulled> {
  const { folder } = declared;
  let now = [...items];
  for (;;) {
    const open = now.filter(({ refused }) => refused === undefined);
    const owners = new Map<FileEdit, PullItem>();
    for (const item of open) for (const edit of item.edits) owners.set(edit, item);
    const { files, refused } = await planEdits([...owners.keys()], (file) => readToEdit(folder, file));
    if (refused.length === 0) {
      const why = files.length === 0 ? undefined : whyUnreadable(declared, files);
      if (why === undefined) return { items: now, files };
      const reason = `with these edits the files can't be read (${why}): edit them by hand`;
      return {
        items: now.map((item) => (item.refused === undefined ? { ...item, refused: reason } : item)),
        files: [],
      };
    }
    const reasons = new Map<PullItem, string>();
    for (const { edit, place, reason } of refused) {
      const owner = owners.get(edit);
      if (owner) reasons.set(owner, `${place} ${reason}`);
    }
    now = now.map((item) => {
      const reason = reasons.get(item);
      return reason === undefined ? item : { ...item, refused: reason };
    });
    if (reasons.size === 0) throw new Error("an edit that is refused belongs to an item");
  }
}

/** Why the files of an environment can't be read with these edits; undefined where they can. */
function whyUnreadable(declared: Declared, files: readonly EditedFile[]): string | undefined {
  const copy = copyEdited(declared, files);
  try {
    const { declared: read, problems } = readDeclaration(declared.file, copy.folder);
    const [first] = problems;
    if (read && !first) return undefined;
    return first ? [first.place ?? [], first.text].flat().join(": ") : "they declare nothing";
  } finally {
    copy.remove();
  }
}

/** The reason for leaving something in the files, in one sentence. */
export class PullRefusal extends DataRefusal {
  override readonly name = "PullRefusal";
}

type Path = readonly string[];

/** Makes edits of what was changed by hand; values of the configuration are left. */
export class Layout {
  readonly declared: Declared;
  readonly files: EnvironmentFiles;
  readonly #tables = new Map<string, RowPlacing>();

  constructor(
    declared: Declared,
    { name, file }: Pick<EnvironmentEntry, "name" | "file">,
    all: readonly Pick<EnvironmentEntry, "name" | "file">[],
    into?: string,
  ) {
    if (!declared.document) throw new PullRefusal(`${file} breaks its own rules: mend it first`);
    this.declared = declared;
    this.files = new EnvironmentFiles(name, declared, filesOfOthers(declared.folder, name, all), into);
  }

  /** Sets a value of a setting, a role or an entry. */
  set(path: Path, value: unknown): FileEdit[] {
    const written = this.plainAt(path);
    const { secrets } = this.declared.declaration;
    const isHere = (other: Path): boolean => JSON.stringify(other) === JSON.stringify(path);
    if ((isObject(written) && "config" in written) || secrets.some(isHere))
      throw new PullRefusal("its value comes from the configuration: change it there");
    return [setValue(this.files, path, value)];
  }

  /** Takes a named entry out, such as a member. */
  takeOut(path: Path): FileEdit[] {
    if (!this.has(path)) throw new PullRefusal("the files do not declare it any more");
    return takeOutValue(this.files, path);
  }

  /** Changes cells of a declared row, takes it out or adds one. */
  row(name: string, verb: RowChange["do"], row: Cells, cells: RowData): FileEdit[] {
    const seed = this.declared.declaration.seeds[name];
    if (!seed) throw new PullRefusal(`the files declare no seed ${name}`);
    const table = this.#tables.get(name) ?? new RowPlacing(this.files, name);
    this.#tables.set(name, table);
    return table.place({ do: verb, key: naturalKey(seed.key, row) ?? "", row, cells });
  }

  has(path: Path): boolean {
    return find(this.files.root, path) !== undefined;
  }

  /** The value that the files have at a path; undefined where they have none. */
  plainAt(path: Path): unknown {
    const entry = find(this.files.root, path);
    return entry && toPlainValue(entry.value);
  }
}

/** Changes by hand as edits of the files, things in the order of the state. Nothing is written. */
export async function listItems(findings: LiveFindings, layout: Layout, pending: Section): Promise<PullItem[]> {
  const declared = new Map(things(layout.declared.declaration).map((thing) => [thing.key, thing]));
  const waiting = new Waiting(pending);
  const items: PullItem[] = [];
  for (const seen of findings.all) {
    const { resource } = seen;
    const taker = new Taker(declared.get(`${resource.kind} ${resource.name}`), layout, waiting);
    items.push(...(await taker.take(seen)));
  }
  for (const [team, strangers] of findings.strangers) {
    const makeItem = new Taker(declared.get(`Team ${team}`), layout, waiting).makerOf("team", team);
    const roster = declared.get(`TeamRoster ${team}/roster`);
    items.push(...(await listStrangerItems(strangers, { roster, layout, makeItem })));
  }
  return items;
}

/** Changes of the files that no `up` has applied yet: what they touch is not pulled. */
class Waiting {
  readonly #section: Section;
  constructor(section: Section) {
    this.#section = section;
  }

  has(kind: Thing["kind"], thing: string, change: Change["kind"], name: string): boolean {
    if (!this.#section.compared) return true;
    const found = this.#section.things.find((each) => each.kind === kind && each.name === thing);
    if (!found) return false;
    const listed = found.changes.filter((each) => each.kind === change);
    const all = (found.rows?.add ?? 0) + (found.rows?.change ?? 0) + (found.rows?.remove ?? 0);
    const isWhole = change !== "row" || all === listed.length;
    return found.op !== "change" || !isWhole || listed.some((each) => each.name === name || each.name === secretText);
  }
}

const waits = "the files have a change of it that is not applied: run up first, or take it back";

class Taker {
  readonly #thing: DeclaredThing | undefined;
  readonly #layout: Layout;
  readonly #waiting: Waiting;

  constructor(thing: DeclaredThing | undefined, layout: Layout, waiting: Waiting) {
    this.#thing = thing;
    this.#layout = layout;
    this.#waiting = waiting;
  }

  async take(seen: SeenResource): Promise<PullItem[]> {
    const { kind, name } = seen.resource;
    const place = { thing: this.#thing, layout: this.#layout };
    switch (kind) {
      case "SeedRows":
        if (!seen.found) return [wholeGone("seed", name, "its table is not on the platform any more")];
        return listRowItems(seen, this.#thing?.path[1], this.#layout, this.makerOf("seed", name));
      case "TeamMember":
        return listMemberItems(seen, { ...place, makeItem: this.makerOf("team", name.replace(/\/[^/]*$/, "")) });
      case "TeamRoster":
        if (!seen.found) return [wholeGone("team", name)];
        return listRosterItems(seen, { ...place, makeItem: this.makerOf("team", name.replace(/\/roster$/, "")) });
      case "Organization":
        return this.#takeSettings(seen, "organization");
      case "Team":
        return this.#takeSettings(seen, "team");
      case "GeneratedApp":
        return this.#takeSettings(seen, "app");
      default:
        return [];
    }
  }

  /** Makes items of one thing. */
  makerOf(kind: Thing["kind"], thing: string): MakeItem {
    return (change, make) => this.#item(kind, thing, change, make);
  }

  /** An item whose edits are made by `make`, or with the reason why there are none. */
  #item(kind: Thing["kind"], thing: string, change: Change, make: (declared: DeclaredThing) => FileEdit[]): PullItem {
    const item = { kind, thing, change, edits: [] };
    if (!this.#thing) return { ...item, refused: "the files do not declare it under this name: run up first" };
    if (this.#waiting.has(kind, thing, change.kind, change.name)) return { ...item, refused: waits };
    try {
      return { ...item, edits: make(this.#thing) };
    } catch (error) {
      if (!(error instanceof PullRefusal || error instanceof PlacingRefusal)) throw error;
      return { ...item, refused: error.message };
    }
  }

  #takeSettings({ resource, applied, found, changed }: SeenResource, kind: Thing["kind"]): PullItem[] {
    const { name } = resource;
    if (!found) return [wholeGone(kind, name)];
    return changed.flatMap((setting) => {
      const is = found[setting] ?? null;
      const path = [...(this.#thing?.path ?? []), setting];
      if (this.#thing && this.#layout.has(path) && stable(this.#layout.plainAt(path)) === stable(is)) return [];
      const change: Change = {
        kind: "setting",
        op: "change",
        name: setting,
        fields: [fieldOf(setting, applied[setting] ?? undefined, is ?? undefined)],
      };
      return [this.#item(kind, name, change, () => this.#layout.set(path, is))];
    });
  }
}

const wholeGone = (kind: Thing["kind"], thing: string, what = "it is not on the platform any more"): PullItem => ({
  kind,
  thing,
  change: { kind: "setting", op: "remove", name: thing, fields: [] },
  edits: [],
  refused: `${what}: a whole thing is never taken out of the files; up makes it anew, or remove it by hand`,
});

const changeOf = (op: Change["op"], name: string, fields: Field[] = []): Change => ({ kind: "row", op, name, fields });

/** Changes by hand of a seed's rows as edits. `path` is the seed's name in the files; undefined where they have none. */
export async function listRowItems(
  seen: SeenResource,
  path: string | undefined,
  layout: Layout,
  makeItem: MakeItem,
): Promise<PullItem[]> {
  const { rows } = seen;
  if (!rows || rows.changed.size + rows.missing.length + rows.foreign.length === 0)
    return listHidden(seen, seen.resource.values["sensitive"] === true);
  const seed = path === undefined ? undefined : layout.declared.declaration.seeds[path];
  if (!seed || path === undefined)
    return [...rows.changed.keys()].map((key) => makeItem(changeOf("change", key), () => []));
  if (seed.sensitive) return listHidden(seen, true);
  const declared = new Map<string, RowData>();
  for await (const block of read(withRowEdits(seed), layout.declared.folder))
    for (const { values } of block) declared.set(keyOf(seed.key, values), values);
  return new RowTaker(path, seed, seen.applied, declared, layout, makeItem).take(
    rows,
    Number(seen.applied["rowCount"]),
  );
}

/** A fraction that a guard takes; undefined for its default. */
export const toShare = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);

/** Names a seed whose rows nobody may read, if they were changed. */
function listHidden({ resource, found }: SeenResource, isSensitive: boolean): PullItem[] {
  if (!isSensitive || !isObject(found?.["drift"])) return [];
  const refused = "its rows are sensitive: they are never written into a file";
  return [{ kind: "seed", thing: resource.name, change: changeOf("change", secretText), edits: [], refused }];
}

class RowTaker {
  readonly #path: string;
  readonly #seed: SeedDeclaration;
  readonly #applied: Seed;
  readonly #source: Source;
  readonly #linked: ReadonlySet<string>;
  readonly #declared: ReadonlyMap<string, RowData>;
  readonly #layout: Layout;
  readonly #makeItem: MakeItem;

  constructor(
    path: string,
    seed: SeedDeclaration,
    applied: Values,
    declared: ReadonlyMap<string, RowData>,
    layout: Layout,
    makeItem: MakeItem,
  ) {
    this.#applied = applied as unknown as Seed; // of the seed's own schema
    this.#path = path;
    this.#seed = seed;
    this.#source = withRowEdits(seed);
    this.#linked = new Set(listLinkedLabels(this.#source));
    this.#declared = declared;
    this.#layout = layout;
    this.#makeItem = makeItem;
  }

  take({ changed, missing, foreign }: NonNullable<SeenResource["rows"]>, count: number): PullItem[] {
    const guard =
      count > 0 && missing.length >= count
        ? "the platform shows none of its rows: nothing is removed for an empty answer"
        : massDisappearance("rows", missing.length, count, toShare(this.#seed.maxRemovals));
    return [
      ...[...changed].flatMap(([key, values]) => this.#takeChanged(key, values)),
      ...missing.flatMap((key) => this.#takeMissing(key, guard)),
      ...foreign.flatMap((values) => this.#takeForeign(values)),
    ];
  }

  #takeChanged(key: string, values: RowData): PullItem[] {
    const row = this.#declared.get(key);
    if (!row) {
      return [
        this.#makeItem(changeOf("change", key), () => {
          throw new PullRefusal("the files do not declare this row any more");
        }),
      ];
    }
    const was = withoutIgnored(this.#applied, row);
    const is = Object.fromEntries(Object.keys(was).map((label) => [label, entryIn(values, label)]));
    const labels = changedLabels(this.#applied, was, is);
    const field = (label: string, isSecret: boolean): Field =>
      fieldOf(label, row[label] ?? undefined, entryIn(values, label) ?? undefined, isSecret);
    const open = labels.filter((label) => !isHidden(this.#source, label));
    const secret = labels.filter((label) => isHidden(this.#source, label));
    const items: PullItem[] = [];
    if (open.length > 0) {
      const fields = open.map((label) => field(label, false));
      const make = (): FileEdit[] => this.#layout.row(this.#path, "change", row, this.#taken(values, open));
      items.push(this.#makeItem(changeOf("change", key, fields), make));
    }
    if (secret.length > 0) {
      const fields = secret.map((label) => field(label, true));
      items.push(
        this.#makeItem(changeOf("change", key, fields), () => {
          throw new PullRefusal("its changed values are secret: they are never written into a file");
        }),
      );
    }
    return items;
  }

  #takeMissing(key: string, guard: string | undefined): PullItem[] {
    const row = this.#declared.get(key);
    if (!row) return [];
    return [
      this.#makeItem(changeOf("remove", key), () => {
        if (guard !== undefined) throw new PullRefusal(guard);
        return this.#layout.row(this.#path, "remove", row, row);
      }),
    ];
  }

  #takeForeign(values: RowData): PullItem[] {
    const key = keyOf(this.#seed.key, values);
    if (this.#declared.has(key)) return [];
    const rows = [...this.#declared.values()];
    const labels = [...new Set([...this.#seed.key, ...rows.flatMap((row) => Object.keys(row))])];
    const open = labels.filter((label) => (entryIn(values, label) ?? null) !== null && !isHidden(this.#source, label));
    const taken = this.#taken(values, open);
    const fields = open.map((label) => fieldOf(label, undefined, taken[label]));
    return [this.#makeItem(changeOf("add", key, fields), () => this.#layout.row(this.#path, "add", taken, taken))];
  }

  /** Live values as files have them: in the spelling of their type, of linked ones the keys alone. */
  #taken(values: RowData, labels: readonly string[]): RowData {
    const { forms = {} } = this.#applied;
    const taken = (label: string): unknown => {
      const value = values[label];
      if (canonical(value) === undefined) return null;
      if (this.#linked.has(label)) return keyText(value);
      const form = entryIn(forms, label);
      return form ? inForm(form, value) : value;
    };
    return Object.fromEntries(labels.map((label) => [label, taken(label)]));
  }
}

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
  return layout.set(isObject(layout.plainAt(path)) ? [...path, "role"] : path, role);
}

/** The role that the files have at a path; undefined where they have nobody. */
function roleAt(layout: Layout, path: Path): unknown {
  const value = layout.plainAt(path);
  return isObject(value) ? value["role"] : value;
}

/** Takes what became of one membership. */
export function listMemberItems({ resource, applied, found }: SeenResource, place: Place): PullItem[] {
  const { thing, layout, makeItem } = place;
  const email =
    [applied["email"], applied["memberUserID"], resource.name].find((name) => typeof name === "string") ?? "";
  if (!found) {
    if (!thing || !layout.has(thing.path)) return [];
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
      if (layout.has(place)) throw refuseEnded(name, "the files");
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
    const people = await readPeopleRows(source, typeof team === "string" ? team : undefined, layout.declared.folder);
    return {
      roleOf: (name) => {
        const row = people.rows.get(name.toLowerCase());
        return row && (row["role"] || "member");
      },
      make: (change) => placePerson(layout.files, people, change),
    };
  }
  const pathOf = (name: string): Path => [...(thing?.path ?? []), "members", name];
  return {
    roleOf: (name) => roleAt(layout, pathOf(name)),
    make: ({ do: verb, name, role }) => {
      if (verb === "remove") return layout.takeOut(pathOf(name));
      if (verb === "add" && layout.has(pathOf(name))) throw refuseEnded(name, "the files");
      return setRole(layout, pathOf(name), role);
    },
  };
}
