import { things, type DeclaredThing as DeclaredThing } from "../../../provider/environment/things/things.ts";
import { toPlainValue } from "../../../provider/layers/document.ts";
import type { FileEdit } from "../../edits/edits.ts";
import { secretText, type Change, type Section, type Thing } from "../model/changeSet.ts";
import { fieldOf, stable } from "../model/values.ts";
import { PlacingRefusal } from "../placing/environmentFiles.ts";
import type { LiveFindings, MakeItem, PullItem, SeenResource } from "./findings.ts";
import { PullRefusal, type Layout } from "./layout.ts";
import { listMemberItems, listRosterItems, listStrangerItems } from "./peopleItems.ts";
import { listRowItems } from "./rowItems.ts";

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
}

const wholeGone = (kind: Thing["kind"], thing: string, what = "it is not on the platform any more"): PullItem => ({
  kind,
  thing,
  change: { kind: "setting", op: "remove", name: thing, fields: [] },
  edits: [],
  refused: `${what}: a whole thing is never taken out of the files; up makes it anew, or remove it by hand`,
});
