import { find, toPlainValue, without, type Mapping, type Value } from "../../layers/document.ts";
import { isPending } from "./supplied.ts";

type Path = readonly string[];

/** Keys of a seed that decide what it is, and on what it depends. */
const decisive = [
  "table",
  "key",
  "source",
  "references",
  "parent",
  "formerly",
  "secretLabels",
  "ignoreLabels",
  "expect",
  "fields",
];

/** The content without what can't be declared yet, and the names of that. */
export interface Decided {
  root: Value;
  undecided: string[];
}

/** Leaves out whatever exists, or not, depending on a value that is not known yet, and what refers to it. */
export function dropUndecided(content: Value): Decided {
  const out = new Map<string, Path>();
  let root = content;
  const leaveOut = (path: Path): void => {
    out.set(JSON.stringify(path), path);
    root = path.length === 0 ? nothing(content) : without(root, path);
  };
  for (const path of pendingIn(content, [])) {
    const thing = thingOf(path);
    if (thing) leaveOut(thing);
  }
  // References to a thing that is left out are unknown as well, and so on.
  for (let known = -1; known < out.size;) {
    known = out.size;
    const paths = [...out.values()];
    if (paths.length > 0) for (const path of referring(root, paths)) leaveOut(path);
  }
  return { root, undecided: [...out.values()].map(nameOf) };
}

/** A declaration of nothing, which must name at least that. */
const nothing = ({ at }: Value): Mapping => {
  const empty: Mapping = { kind: "map", at, entries: new Map() };
  return { ...empty, entries: new Map([["organizations", { at, value: empty }]]) };
};

function pendingIn(value: Value, path: Path): Path[] {
  if (isPending(value)) return [path];
  if (value.kind === "list") return value.items.flatMap((item, index) => pendingIn(item, [...path, String(index)]));
  if (value.kind === "scalar") return [];
  return [...value.entries].flatMap(([key, entry]) => pendingIn(entry.value, [...path, key]));
}

/** The thing whose existence a value decides; undefined where it is only a value of a resource. */
function thingOf(path: Path): Path | undefined {
  const [kind = "", key, name = "", team, list, who, property] = path;
  if (!["organizations", "seeds", "apps"].includes(kind)) return [];
  if (key === undefined) return [kind];
  const thing = [kind, key];
  if (name === "" || name === "formerly") return thing;
  if (kind === "seeds") {
    if (decisive.includes(name)) return thing;
    // All rows may come as one, and so may each cell; a row has to show which labels it has, and a verb its keys.
    const isRow = name === "rows" ? path.length === 4 : name.startsWith("rows");
    const isViewer = name.startsWith("teamViewers") && path.length !== 4;
    return isRow || isViewer ? thing : undefined;
  }
  if (kind === "apps") return name === "wait" ? thing : undefined;
  if (name !== "teams") return undefined;
  if (team === undefined) return [...thing, name];
  if (list === undefined || list === "formerly") return [...thing, name, team];
  if (list !== "members" && list !== "roster") return undefined;
  const people = [...thing, name, team, list];
  if (who === undefined || (list === "roster" && who === "source")) return people;
  const opens =
    list === "members"
      ? property === "targetInitialApp" && path.length > 7
      : who === "targetInitialApp" && path.length > 6;
  return opens ? (list === "members" ? [...people, who] : people) : undefined;
}

/** The things that refer to what is left out. */
function referring(root: Value, out: readonly Path[]): Path[] {
  const isOut = (...path: string[]): boolean => out.some((one) => one.every((step, at) => step === path[at]));
  const found: Path[] = [];
  for (const [name, seed] of entriesOf(root, ["seeds"])) {
    const path = ["seeds", name];
    const links = [["references"], ["expect", "relationships"]].flatMap((path) => entriesOf(seed, path));
    const named = [...links.map(([, rows]) => rows), find(seed, ["parent"])?.value];
    const seeds = named.map((rows) => textAt(rows, "seed"));
    const viewers = find(seed, ["teamViewers"])?.value;
    const teams = viewers?.kind === "list" ? viewers.items.map((viewer) => textAt(viewer, "team")) : [];
    const isLost =
      seeds.some((other) => other !== undefined && isOut("seeds", other)) ||
      teams.some((team) => {
        const [organization = "", key = ""] = team?.split("/") ?? [];
        return team !== undefined && isOut("organizations", organization, "teams", key);
      });
    if (isLost) found.push(path);
  }
  for (const [organization, declared] of entriesOf(root, ["organizations"])) {
    for (const [team, crew] of entriesOf(declared, ["teams"])) {
      const path = ["organizations", organization, "teams", team];
      const opens = (person: Value | undefined): boolean => {
        const app = textAt(person && find(person, ["targetInitialApp"])?.value, "app");
        return app !== undefined && isOut("apps", app);
      };
      for (const [email, member] of entriesOf(crew, ["members"]))
        if (opens(member)) found.push([...path, "members", email]);
      if (opens(find(crew, ["roster"])?.value)) found.push([...path, "roster"]);
    }
  }
  return found;
}

function entriesOf(root: Value, path: Path): (readonly [string, Value])[] {
  const map = find(root, path)?.value;
  return map?.kind === "map" ? [...map.entries].map(([key, { value }]) => [key, value] as const) : [];
}

function textAt(value: Value | undefined, key: string): string | undefined {
  const text = value?.kind === "map" ? value.entries.get(key) : undefined;
  const known = text && toPlainValue(text.value);
  return typeof known === "string" ? known : undefined;
}

function nameOf([kind, key, , team, list, who]: Path): string {
  if (kind === undefined) return "everything";
  if (key === undefined) return `all ${kind}`;
  if (kind !== "organizations") return `${kind.slice(0, -1)} ${key}`;
  if (team === undefined) return `organization ${key}`;
  if (list === undefined) return `team ${key}/${team}`;
  return who === undefined ? `${list} of team ${key}/${team}` : `member ${who} of team ${key}/${team}`;
}
