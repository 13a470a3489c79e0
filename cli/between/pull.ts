import { role as roles } from "../../platform/contract/people.ts";
import type { RowData } from "../../platform/contract/values.ts";
import { entryIn, isObject } from "../../platform/contract/wire.ts";
import { formatCount } from "../../platform/messages/text.ts";
import { withRowEdits } from "../../provider/environment/schema.ts";
import { type DeclaredThing, things } from "../../provider/environment/things.ts";
import { matcher } from "../../provider/people/people.ts";
import { massDisappearance } from "../../provider/resources/common.ts";
import { changedLabels } from "../../provider/seedRows/cells.ts";
import { keyOf, withoutIgnored } from "../../provider/seedRows/declaration.ts";
import { canonical, inForm, keyText, naturalKey } from "../../provider/seedRows/digests.ts";
import type { Seed } from "../../provider/seedRows/inputs.ts";
import { read } from "../../provider/seedRows/source/read.ts";
import { isHidden, listLinkedLabels } from "../../provider/seedRows/source/source.ts";
import {
  type Change,
  type Field,
  fieldOf,
  placed,
  secretText,
  type Section,
  stable,
  type Thing,
} from "../report/changeSet.ts";
import type { Look, Looked, Stranger } from "../report/drift.ts";
import { DataRefusal, type Declared, readDeclaration } from "../report/environments.ts";
import { type EditedFile, type FileEdit, planEdits } from "./editor/edits.ts";
import { readToEdit } from "./editor/writing.ts";
import { copyEdited, type EnvironmentFiles, readPeople, refuseEnded, type Roster } from "./placing.ts";

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
    const { problems } = readDeclaration(declared.file, copy.folder);
    return problems[0] && placed(problems[0]);
  } finally {
    copy.remove();
  }
}

type Path = readonly string[];

/** Changes by hand as edits of the files, things in the order of the state. Nothing is written. */
export async function listItems(
  { looked, strangers }: Look,
  files: EnvironmentFiles,
  pending: Section,
): Promise<PullItem[]> {
  const pull = new Pull(files, pending);
  const items: PullItem[] = [];
  for (const seen of looked) items.push(...(await pull.take(seen)));
  for (const [team, people] of strangers) items.push(...(await pull.takeStrangers(team, people)));
  return items;
}

const waits = "the files have a change of it that is not applied: run up first, or take it back";

/** Makes an item of a change; the edits are made by `make`, which may throw a DataRefusal. */
type MakeItem = (change: Change, make: (declared: DeclaredThing) => FileEdit[]) => PullItem;

const refuse = (reason: string): never => {
  throw new DataRefusal(reason);
};

class Pull {
  readonly #files: EnvironmentFiles;
  readonly #pending: Section;
  readonly #declared: ReadonlyMap<string, DeclaredThing>;

  constructor(files: EnvironmentFiles, pending: Section) {
    this.#files = files;
    this.#pending = pending;
    this.#declared = new Map(things(files.declared.declaration).map((thing) => [thing.key, thing]));
  }

  /** Takes what became of a resource of the state. */
  async take(seen: Looked): Promise<PullItem[]> {
    const { kind, name } = seen.each;
    const thing = this.#declared.get(`${kind} ${name}`);
    switch (kind) {
      case "SeedRows":
        if (!seen.found) return [wholeGone("seed", name, "its table is not on the platform any more")];
        return this.#takeRows(seen, thing, this.#makerOf("seed", name, thing));
      case "TeamMember":
        return this.#takeMember(seen, thing, this.#makerOf("team", name.replace(/\/[^/]*$/, ""), thing));
      case "TeamRoster":
        if (!seen.found) return [wholeGone("team", name)];
        return this.#takeRoster(seen, thing, this.#makerOf("team", name.replace(/\/roster$/, ""), thing));
      case "Organization":
        return this.#takeSettings(seen, "organization", thing);
      case "Team":
        return this.#takeSettings(seen, "team", thing);
      case "GeneratedApp":
        return this.#takeSettings(seen, "app", thing);
      default:
        return [];
    }
  }

  /** Makes items of one thing, or says why it is left. */
  #makerOf(kind: Thing["kind"], name: string, declared: DeclaredThing | undefined): MakeItem {
    return (change, make) => {
      const item = { kind, thing: name, change, edits: [] };
      if (!declared) return { ...item, refused: "the files do not declare it under this name: run up first" };
      if (this.#waits(kind, name, change)) return { ...item, refused: waits };
      try {
        return { ...item, edits: make(declared) };
      } catch (error) {
        if (!(error instanceof DataRefusal)) throw error;
        return { ...item, refused: error.message };
      }
    };
  }

  /** True for what the files change as well, and no `up` has applied yet. */
  #waits(kind: Thing["kind"], name: string, change: Change): boolean {
    if (!this.#pending.compared) return true;
    const found = this.#pending.things.find((each) => each.kind === kind && each.name === name);
    if (!found) return false;
    const listed = found.changes.filter((each) => each.kind === change.kind);
    const all = (found.rows?.add ?? 0) + (found.rows?.change ?? 0) + (found.rows?.remove ?? 0);
    const isWhole = change.kind !== "row" || all === listed.length;
    const isListed = listed.some((each) => each.name === change.name || each.name === secretText);
    return found.op !== "change" || !isWhole || isListed;
  }

  #takeSettings(
    { each: { name }, values: applied, found, changed }: Looked,
    kind: Thing["kind"],
    thing: DeclaredThing | undefined,
  ): PullItem[] {
    if (!found) return [wholeGone(kind, name)];
    return changed.flatMap((setting) => {
      const is = found[setting] ?? null;
      const path = [...(thing?.path ?? []), setting];
      if (thing && this.#files.has(path) && stable(this.#files.plainAt(path)) === stable(is)) return [];
      const fields = [fieldOf(setting, applied[setting] ?? undefined, is ?? undefined)];
      const change: Change = { kind: "setting", op: "change", name: setting, fields };
      return [this.#makerOf(kind, name, thing)(change, () => this.#files.set(path, is))];
    });
  }

  async #takeRows(seen: Looked, thing: DeclaredThing | undefined, makeItem: MakeItem): Promise<PullItem[]> {
    const { declared } = this.#files;
    const { each: resource, rows, found } = seen;
    const isSecret = isObject(found?.["drift"]) && resource.values["sensitive"] === true;
    const name = thing?.path[1] ?? "";
    const seed = declared.declaration.seeds[name];
    if (isSecret || seed?.sensitive) return isObject(found?.["drift"]) ? [hiddenRows(resource.name)] : [];
    const unnamed = Number(isObject(found?.["drift"]) ? found["drift"]["missing"] : 0) - rows.missing.length;
    if (unnamed > 0) {
      const lost =
        "the source as it was applied is neither on disk nor in the last commit, so nobody can name them here";
      return [makeItem(rowChange("remove", formatCount(unnamed, "row")), () => refuse(lost))];
    }
    if (rows.changed.size + rows.missing.length + rows.foreign.length === 0) return [];
    if (!seed) return [...rows.changed.keys()].map((key) => makeItem(rowChange("change", key), () => []));
    const applied = seen.values as unknown as Seed; // of the seed's own schema
    const source = withRowEdits(seed);
    const linked = new Set(listLinkedLabels(source));
    const inFiles = new Map<string, RowData>();
    for await (const block of read(source, declared.folder))
      for (const { values } of block) inFiles.set(keyOf(seed.key, values), values);
    const isOpen = (label: string): boolean => !isHidden(source, label);
    const edit = (verb: "add" | "change" | "remove", row: RowData, cells: RowData): FileEdit[] =>
      this.#files.rows(name).place({ do: verb, key: naturalKey(seed.key, row) ?? "", row, cells });
    /** Live values as files have them: in the spelling of their type, of linked ones the keys alone. */
    const taken = (values: RowData, labels: readonly string[]): RowData => {
      const cellOf = (label: string): unknown => {
        const value = values[label];
        if (canonical(value) === undefined) return null;
        if (linked.has(label)) return keyText(value);
        const form = entryIn(applied.forms ?? {}, label);
        return form ? inForm(form, value) : value;
      };
      return Object.fromEntries(labels.map((label) => [label, cellOf(label)]));
    };
    const takeChanged = (key: string, values: RowData): PullItem[] => {
      const row = inFiles.get(key);
      if (!row) return [makeItem(rowChange("change", key), () => refuse("the files do not declare this row any more"))];
      const was = withoutIgnored(applied, row);
      const is = Object.fromEntries(Object.keys(was).map((label) => [label, entryIn(values, label)]));
      const labels = changedLabels(applied, was, is);
      const fields = (those: readonly string[], isSecret: boolean): Field[] =>
        those.map((label) => fieldOf(label, row[label] ?? undefined, entryIn(values, label) ?? undefined, isSecret));
      const [open, secret] = [labels.filter(isOpen), labels.filter((label) => !isOpen(label))];
      const secrets = "its changed values are secret: they are never written into a file";
      return [
        ...(open.length > 0
          ? [makeItem(rowChange("change", key, fields(open, false)), () => edit("change", row, taken(values, open)))]
          : []),
        ...(secret.length > 0 ? [makeItem(rowChange("change", key, fields(secret, true)), () => refuse(secrets))] : []),
      ];
    };
    const count = Number(seen.values["rowCount"]);
    const guard =
      count > 0 && rows.missing.length >= count
        ? "the platform shows none of its rows: nothing is removed for an empty answer"
        : massDisappearance("rows", rows.missing.length, count, toShare(seed.maxRemovals));
    const all = [...new Set([...seed.key, ...[...inFiles.values()].flatMap((row) => Object.keys(row))])].filter(isOpen);
    return [
      ...[...rows.changed].flatMap(([key, values]) => takeChanged(key, values)),
      ...rows.missing.flatMap((key) => {
        const row = inFiles.get(key);
        if (!row) return [];
        return makeItem(rowChange("remove", key), () =>
          guard === undefined ? edit("remove", row, row) : refuse(guard),
        );
      }),
      ...rows.foreign.flatMap((values) => {
        const key = keyOf(seed.key, values);
        if (inFiles.has(key)) return [];
        const row = taken(
          values,
          all.filter((label) => (entryIn(values, label) ?? null) !== null),
        );
        const fields = Object.entries(row).map(([label, value]) => fieldOf(label, undefined, value));
        return makeItem(rowChange("add", key, fields), () => edit("add", row, row));
      }),
    ];
  }

  /** Takes what became of one membership. */
  #takeMember(
    { each: resource, values: applied, found }: Looked,
    thing: DeclaredThing | undefined,
    makeItem: MakeItem,
  ) {
    const names = [applied["email"], applied["memberUserID"], resource.name];
    const email = names.find((name) => typeof name === "string") ?? "";
    if (!found) {
      if (!thing || !this.#files.has(thing.path)) return [];
      return [makeItem(personChange("remove", email), ({ path }) => this.#files.takeOut(path))];
    }
    const [was, is] = [applied["role"], found["role"]];
    if (was === is || typeof is !== "string" || (thing && this.#roleAt(thing.path) === is)) return [];
    return [makeItem(personChange("change", email, was, is), ({ path }) => this.#setRole(path, is))];
  }

  /** Takes what became of the people of a roster, who stand in its members or in the file that it names. */
  async #takeRoster({ values: applied, found = {} }: Looked, thing: DeclaredThing | undefined, makeItem: MakeItem) {
    const [was, is] = [rolesIn(applied), rolesIn(found)];
    const changed = [...new Set([...was.keys(), ...is.keys()])].filter((name) => was.get(name) !== is.get(name));
    if (changed.length === 0) return [];
    const secret = "its people are secret: they are never written into a file";
    if (applied["sensitive"] === true) return [makeItem(personChange("change", secretText), () => refuse(secret))];
    const roster = await this.#rosterOf(thing);
    const missing = [...was.keys()].filter((name) => !is.has(name)).length;
    const guard = massDisappearance("members", missing, was.size, toShare(applied["maxRemovals"]));
    return changed.flatMap((name) => {
      const [before, after] = [was.get(name), is.get(name)];
      if (roster.roleOf(name) === after) return [];
      const op = after === undefined ? "remove" : before === undefined ? "add" : "change";
      return makeItem(personChange(op, name, before, after), () =>
        after === undefined && guard !== undefined
          ? refuse(guard)
          : roster.edit({ do: op, name, ...(typeof after === "string" ? { role: after } : {}) }),
      );
    });
  }

  /** Takes people of a team whom nobody declares, into its roster where it has one, but for whom that ignores. */
  async takeStrangers(team: string, strangers: readonly Stranger[]): Promise<PullItem[]> {
    const makeItem = this.#makerOf("team", team, this.#declared.get(`Team ${team}`));
    const thing = this.#declared.get(`TeamRoster ${team}/roster`);
    const roster = thing && (await this.#rosterOf(thing));
    const { ignore } = thing?.inputs ?? {};
    const ignored = Array.isArray(ignore) ? ignore.filter((one) => typeof one === "string").map(matcher) : [];
    return strangers.flatMap(({ name, role }) => {
      if (ignored.some((matches) => matches(name))) return [];
      return makeItem(personChange("add", name, undefined, role), ({ path }) => {
        const { data } = roles.safeParse(role);
        if (data === undefined) return refuse(`its role on the platform is ${String(role)}, which files can't have`);
        if (roster) return roster.edit({ do: "add", name, role: data });
        const place = [...path, "members", name];
        return this.#files.has(place) ? refuseEnded(name, "the files") : this.#files.set(place, data);
      });
    });
  }

  /** Sets the role of a person who stands at a path: as the value, or in the map that it is. */
  #setRole(path: Path, role: unknown): FileEdit[] {
    return this.#files.set(isObject(this.#files.plainAt(path)) ? [...path, "role"] : path, role);
  }

  /** The role that the files have at a path; undefined where they have nobody. */
  #roleAt(path: Path): unknown {
    const value = this.#files.plainAt(path);
    return isObject(value) ? value["role"] : value;
  }

  /** The people of a roster in the files: the role of each, and how one is changed. */
  async #rosterOf(thing: DeclaredThing | undefined): Promise<Roster> {
    const { source, team } = thing?.inputs ?? {};
    if (typeof source === "string") return readPeople(this.#files, source, typeof team === "string" ? team : undefined);
    const pathOf = (name: string): Path => [...(thing?.path ?? []), "members", name];
    return {
      roleOf: (name) => this.#roleAt(pathOf(name)),
      edit: ({ do: verb, name, role }) => {
        if (verb === "remove") return this.#files.takeOut(pathOf(name));
        if (verb === "add" && this.#files.has(pathOf(name))) return refuseEnded(name, "the files");
        return this.#setRole(pathOf(name), role);
      },
    };
  }
}

const wholeGone = (kind: Thing["kind"], thing: string, what = "it is not on the platform any more"): PullItem => ({
  ...{ kind, thing, edits: [] },
  change: { kind: "setting", op: "remove", name: thing, fields: [] },
  refused: `${what}: a whole thing is never taken out of the files; up makes it anew, or remove it by hand`,
});

/** The change of a seed whose rows nobody may read. */
const hiddenRows = (thing: string): PullItem => ({
  ...{ kind: "seed", thing, change: rowChange("change", secretText), edits: [] },
  refused: "its rows are sensitive: they are never written into a file",
});

const rowChange = (op: Change["op"], name: string, fields: Field[] = []): Change => ({ kind: "row", op, name, fields });

const personChange = (op: Change["op"], name: string, before?: unknown, after?: unknown): Change => ({
  ...{ kind: "person", op, name },
  fields: op === "remove" ? [] : [fieldOf("role", before, after)],
});

/** A fraction that a guard takes; undefined for its default. */
const toShare = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);

const rolesIn = ({ members }: Values): Map<string, unknown> =>
  new Map(isObject(members) ? Object.entries(members) : []);
