import { isObject } from "../../../provider/contract/wire.ts";
import { things, type Thing as DeclaredThing } from "../../../provider/environment/things/things.ts";
import { toPlainValue } from "../../../provider/layers/document.ts";
import { massDisappearance } from "../../../provider/reconcile/guards.ts";
import type { FileEdit } from "../../edits/edits.ts";
import { secretText, type Change, type Section, type Thing } from "../model/changeSet.ts";
import { fieldOf, stable } from "../model/values.ts";
import { OverriddenEdit } from "../placing/environmentFiles.ts";
import type { LiveFindings, PullItem, SeenResource } from "./findings.ts";
import { PullRefusal, type Layout } from "./layout.ts";
import { listRowItems, toShare } from "./rowItems.ts";

type Values = Readonly<Record<string, unknown>>;

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
  readonly #seen: SeenResource;
  readonly #thing: DeclaredThing | undefined;
  readonly #layout: Layout;
  readonly #waiting: Waiting;

  constructor(seen: SeenResource, thing: DeclaredThing | undefined, layout: Layout, waiting: Waiting) {
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
      if (!(error instanceof PullRefusal || error instanceof OverriddenEdit)) throw error;
      return { ...item, refused: error.message };
    }
  }

  async #takeRows(): Promise<PullItem[]> {
    const { resource, found } = this.#seen;
    if (!found) return [wholeGone("seed", resource.name, "its table is not on the platform any more")];
    return listRowItems(this.#seen, this.#thing?.path[1], this.#layout, (change, make) =>
      this.#item("seed", resource.name, change, make),
    );
  }

  #takeSettings(kind: Thing["kind"]): PullItem[] {
    const { resource, applied, found } = this.#seen;
    const { name } = resource;
    if (!found) return [wholeGone(kind, name)];
    return this.#seen.changed.flatMap((setting) => {
      const is = found[setting] ?? null;
      const path = [...(this.#thing?.path ?? []), setting];
      const written = this.#layout.find(path);
      if (this.#thing && written && stable(toPlainValue(written.value)) === stable(is)) return [];
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
    const email =
      [applied["email"], applied["memberUserID"], resource.name].find((name) => typeof name === "string") ?? "";
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
    const value = written && toPlainValue(written.value);
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
    if (!found) return [wholeGone("team", `${team}/roster`)];
    const rolesIn = (values: Values): Map<string, unknown> =>
      new Map(isObject(values["members"]) ? Object.entries(values["members"]) : []);
    const [was, is] = [rolesIn(applied), rolesIn(found)];
    const isListed = typeof this.#thing?.inputs["source"] === "string";
    const missing = [...was.keys()].filter((email) => !is.has(email)).length;
    const guard = massDisappearance("members", missing, was.size, toShare(applied["maxRemovals"]));
    return [...new Set([...was.keys(), ...is.keys()])].flatMap((email) => {
      const [before, after] = [was.get(email), is.get(email)];
      if (before === after) return [];
      const path = [...(this.#thing?.path ?? []), "members", email];
      const written = this.#layout.find(path);
      const value = written && toPlainValue(written.value);
      const declared = isObject(value) ? value["role"] : value;
      if (after === undefined ? !written && !isListed : declared === after) return [];
      const op = after === undefined ? "remove" : before === undefined ? "add" : "change";
      const change: Change = {
        kind: "person",
        op,
        name: email,
        fields: op === "remove" ? [] : [fieldOf("role", before, after)],
      };
      return [
        this.#item("team", team, change, ({ inputs }) => {
          const { source } = inputs;
          if (typeof source === "string")
            throw new PullRefusal(`the people of this team stand in ${source}: edit it there`);
          if (after !== undefined) return this.#layout.set(isObject(value) ? [...path, "role"] : path, after);
          if (guard !== undefined) throw new PullRefusal(guard);
          return this.#layout.takeOut(path);
        }),
      ];
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
