import { isObject } from "../../contract/wire.ts";
import type { RowData } from "../../contract/values.ts";
import type { FileEdit } from "../../edits/edits.ts";
import { withRowEdits } from "../../environment/schema.ts";
import { things, type Thing as DeclaredThing } from "../../environment/things/things.ts";
import { canonical, keyText } from "../../reconcile/digests.ts";
import { massDisappearance } from "../../reconcile/guards.ts";
import { plain } from "../../layers/document.ts";
import { keyOf } from "../../resources/rows/declared/declaration.ts";
import { resourceNamed } from "../../resources/resources.ts";
import { read } from "../../sources/read.ts";
import { isHidden, linkedLabels } from "../../sources/source.ts";
import { listDrifted, type Observer } from "../drift/drift.ts";
import { secretText, type Change, type Field, type Section, type Thing } from "../model/changeSet.ts";
import { fieldOf, stable } from "../model/values.ts";
import type { StateResource } from "../state/state.ts";
import { PullRefusal, type DeclaredRow, type Layout } from "./layout.ts";

type Values = Readonly<Record<string, unknown>>;

/** One change by hand, and the edits that take it into the files. */
export interface PullItem {
  kind: Thing["kind"];
  /** The thing as reports name it. */
  thing: string;
  change: Change;
  edits: FileEdit[];
  /** Why it stays as it is in the files. */
  refused?: string;
}

/** Rows of a seed as a look found them. */
interface SeenRows {
  changed: Map<string, RowData>;
  foreign: RowData[];
  missing: readonly string[];
}

interface Seen {
  resource: StateResource;
  applied: Values;
  found: Values | undefined;
  rows: SeenRows | undefined;
}

/** Remembers what a look finds, for `listItems`. */
export class LiveFindings implements Observer {
  readonly all: Seen[] = [];
  readonly #rows = new Map<StateResource, SeenRows>();
  readonly #foreign: boolean;

  /** @param foreign whether rows that nobody owns are kept */
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

  found = (resource: StateResource, applied: Values, found: Values | undefined): void => {
    this.all.push({ resource, applied, found, rows: this.#rows.get(resource) });
  };
}

/** Changes by hand as edits of the files, things in the order of the state. Nothing is written. */
export async function listItems(findings: LiveFindings, layout: Layout, pending: Section): Promise<PullItem[]> {
  const declared = new Map(things(layout.declared.declaration).map((thing) => [thing.key, thing]));
  const waiting = new Waiting(pending);
  const items: PullItem[] = [];
  for (const seen of findings.all) {
    const { resource } = seen;
    const thing = declared.get(`${resource.kind} ${resource.name}`);
    items.push(...(await new Taker(seen, thing, layout, waiting).take()));
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
  readonly #seen: Seen;
  readonly #thing: DeclaredThing | undefined;
  readonly #layout: Layout;
  readonly #waiting: Waiting;

  constructor(seen: Seen, thing: DeclaredThing | undefined, layout: Layout, waiting: Waiting) {
    this.#seen = seen;
    this.#thing = thing;
    this.#layout = layout;
    this.#waiting = waiting;
  }

  async take(): Promise<PullItem[]> {
    switch (this.#seen.resource.kind) {
      case "SeedRows":
        return this.#takeRows();
      case "TeamMember":
        return this.#takeMember();
      case "TeamRoster":
        return this.#takeRoster();
      case "Organization":
        return this.#takeSettings("organization");
      case "Team":
        return this.#takeSettings("team");
      case "GeneratedApp":
        return this.#takeSettings("app");
      default:
        return [];
    }
  }

  /** An item whose edits are made by `make`, or with the reason why there are none. */
  #item(kind: Thing["kind"], thing: string, change: Change, make: (declared: DeclaredThing) => FileEdit[]): PullItem {
    const item = { kind, thing, change, edits: [] };
    if (!this.#thing) return { ...item, refused: "the files do not declare it under this name: run up first" };
    if (this.#waiting.has(kind, thing, change.kind, change.name)) return { ...item, refused: waits };
    try {
      return { ...item, edits: make(this.#thing) };
    } catch (error) {
      if (!(error instanceof PullRefusal)) throw error;
      return { ...item, refused: error.message };
    }
  }

  #takeSettings(kind: Thing["kind"]): PullItem[] {
    const { resource, applied, found } = this.#seen;
    const { name } = resource;
    if (!found) return [gone(kind, name)];
    const definition = resourceNamed(resource.kind);
    if (!definition) return [];
    return listDrifted(definition, applied, found).flatMap((setting) => {
      const is = found[setting] ?? null;
      const path = [...(this.#thing?.path ?? []), setting];
      const written = this.#layout.find(path);
      if (this.#thing && written && stable(plain(written.value)) === stable(is)) return [];
      const change: Change = {
        kind: "setting",
        op: "change",
        name: setting,
        fields: [fieldOf(setting, applied[setting] ?? undefined, is ?? undefined)],
      };
      return [this.#item(kind, name, change, () => this.#layout.set(path, is))];
    });
  }

  #takeMember(): PullItem[] {
    const { resource, applied, found } = this.#seen;
    const team = resource.name.slice(0, resource.name.lastIndexOf("/"));
    const email = String(applied["email"] ?? applied["memberUserID"] ?? resource.name);
    const written = this.#thing && this.#layout.find(this.#thing.path);
    if (!found) {
      if (!written) return [];
      const change: Change = {
        kind: "person",
        op: "remove",
        name: email,
        fields: [],
      };
      return [this.#item("team", team, change, ({ path }) => this.#layout.takeOut(path))];
    }
    const [was, is] = [applied["role"], found["role"]];
    if (was === is || typeof is !== "string") return [];
    const value = written && plain(written.value);
    if ((isObject(value) ? value["role"] : value) === is) return [];
    const change: Change = {
      kind: "person",
      op: "change",
      name: email,
      fields: [fieldOf("role", was, is)],
    };
    return [
      this.#item("team", team, change, ({ path }) => this.#layout.set(isObject(value) ? [...path, "role"] : path, is)),
    ];
  }

  #takeRoster(): PullItem[] {
    const { resource, applied, found } = this.#seen;
    const team = resource.name.replace(/\/roster$/, "");
    if (!found) return [gone("team", `${team}/roster`)];
    const rolesIn = (values: Values): Map<string, unknown> =>
      new Map(isObject(values["members"]) ? Object.entries(values["members"]) : []);
    const [was, is] = [rolesIn(applied), rolesIn(found)];
    const missing = [...was.keys()].filter((email) => !is.has(email)).length;
    const guard = massDisappearance("members", missing, was.size, shareOf(applied["maxRemovals"]));
    return [...new Set([...was.keys(), ...is.keys()])].flatMap((email) => {
      const [before, after] = [was.get(email), is.get(email)];
      if (before === after) return [];
      const path = [...(this.#thing?.path ?? []), "members", email];
      const written = this.#layout.find(path);
      if (after === undefined ? !written : written && plain(written.value) === after) return [];
      const op = after === undefined ? "remove" : before === undefined ? "add" : "change";
      const change: Change = {
        kind: "person",
        op,
        name: email,
        fields: op === "remove" ? [] : [fieldOf("role", before, after)],
      };
      return [
        this.#item("team", team, change, () => {
          if (after !== undefined) return this.#layout.set(path, after);
          if (guard !== undefined) throw new PullRefusal(guard);
          return this.#layout.takeOut(path);
        }),
      ];
    });
  }

  async #takeRows(): Promise<PullItem[]> {
    const { resource, applied, found, rows } = this.#seen;
    const { name } = resource;
    if (!found) return [gone("seed", name, "its table is not on the platform any more")];
    if (!rows || rows.changed.size + rows.missing.length + rows.foreign.length === 0) return this.#takeHidden();
    const path = this.#thing?.path[1];
    const seed = path === undefined ? undefined : this.#layout.declared.declaration.seeds[path];
    const change = (op: Change["op"], key: string, fields: Field[] = []): Change => ({
      kind: "row",
      op,
      name: key,
      fields,
    });
    if (!seed || path === undefined)
      return [...rows.changed.keys()].map((key) => this.#item("seed", name, change("change", key), () => []));
    if (seed.sensitive) return this.#takeHidden();
    const source = withRowEdits(seed);
    const declared = new Map<string, DeclaredRow>();
    for await (const block of read(source, this.#layout.declared.folder))
      for (const { values, line } of block) declared.set(keyOf(seed.key, values), { values, line });
    const linked = new Set(linkedLabels(source));
    const form = (label: string, value: unknown): string | undefined =>
      linked.has(label) ? keyText(value) : canonical(value);
    const items: PullItem[] = [];
    for (const [key, values] of rows.changed) {
      const row = declared.get(key);
      const labels = Object.keys(row?.values ?? {}).filter(
        (label) => form(label, row?.values[label]) !== form(label, values[label]),
      );
      if (row && labels.length === 0) continue;
      const fields = labels.map((label) =>
        fieldOf(label, row?.values[label] ?? undefined, values[label] ?? undefined, isHidden(source, label)),
      );
      items.push(
        this.#item("seed", name, change("change", key, fields), () => {
          if (!row) throw new PullRefusal("the files do not declare this row any more");
          const open = labels.filter((label) => !isHidden(source, label));
          if (open.length === 0)
            throw new PullRefusal("its changed values are secret: they are never written into a file");
          return this.#layout.changeRow(
            path,
            row,
            Object.fromEntries(open.map((label) => [label, takenValue(values[label], linked.has(label))])),
          );
        }),
      );
    }
    const count = Number(applied["rowCount"]);
    const guard =
      this.#vanished(count) ?? massDisappearance("rows", rows.missing.length, count, shareOf(seed.maxRemovals));
    for (const key of rows.missing) {
      const row = declared.get(key);
      if (!row) continue;
      items.push(
        this.#item("seed", name, change("remove", key), () => {
          if (guard !== undefined) throw new PullRefusal(guard);
          return this.#layout.removeRow(path, row);
        }),
      );
    }
    for (const values of rows.foreign) {
      const key = keyOf(seed.key, values);
      if (declared.has(key)) continue;
      const labels = [...new Set([...seed.key, ...[...declared.values()].flatMap((row) => Object.keys(row.values))])];
      const open = labels.filter((label) => (values[label] ?? null) !== null && !isHidden(source, label));
      const taken = Object.fromEntries(open.map((label) => [label, takenValue(values[label], linked.has(label))]));
      const fields = open.map((label) => fieldOf(label, undefined, taken[label]));
      items.push(this.#item("seed", name, change("add", key, fields), () => this.#layout.addRow(path, taken)));
    }
    return items;
  }

  /** Says of a seed whose rows nobody may read that they were changed. */
  #takeHidden(): PullItem[] {
    const { resource, found } = this.#seen;
    const drift = found?.["drift"];
    if (!isObject(drift) || resource.values["sensitive"] !== true) return [];
    const change: Change = { kind: "row", op: "change", name: secretText, fields: [] };
    const refused = "its rows are sensitive: they are never written into a file";
    return [{ kind: "seed", thing: resource.name, change, edits: [], refused }];
  }

  #vanished(count: number): string | undefined {
    const missing = this.#seen.rows?.missing.length ?? 0;
    return count > 0 && missing >= count
      ? "the platform shows none of its rows: nothing is removed for an empty answer"
      : undefined;
  }
}

/** A live value as files have it: of a linked one the key alone. */
const takenValue = (value: unknown, isLinked: boolean): unknown => (isLinked ? keyText(value) : (value ?? null));

const shareOf = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);

const gone = (kind: Thing["kind"], thing: string, what = "it is not on the platform any more"): PullItem => ({
  kind,
  thing,
  change: { kind: "setting", op: "remove", name: thing, fields: [] },
  edits: [],
  refused: `${what}: a whole thing is never taken out of the files; up makes it anew, or remove it by hand`,
});
