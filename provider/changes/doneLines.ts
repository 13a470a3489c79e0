import { withRowEdits } from "../environment/schema.ts";
import { keyOf } from "../resources/rows/declared/declaration.ts";
import { read, SourceError } from "../sources/read.ts";
import type { Section, Thing } from "./model/changeSet.ts";
import type { Both } from "./pairs.ts";
import { peopleOf } from "./people.ts";
import { nameOf } from "./undeclared.ts";

/** What a line under `removed` names: a thing, or a person or row of it. */
interface Line {
  kind: Thing["kind"];
  name: string;
  inner?: { kind: "person" | "row"; name: string };
  /** Where it stands under `removed`. */
  path: PropertyKey[];
}

/** Advice to delete lines under `removed` whose things are removed already: from the base, and from a known state. */
export async function doneLines({ base, head }: Both, pending: Section | undefined): Promise<string[]> {
  const isKnown = pending?.compared === true;
  const isPending = ({ kind, name, inner }: Line): boolean =>
    (isKnown ? pending.things : []).some((thing) => {
      if (thing.kind !== kind || thing.name !== name) return false;
      if (thing.op === "remove" || (inner && thing.omitted > 0)) return true;
      return thing.changes.some((one) => one.op === "remove" && one.kind === inner?.kind && one.name === inner.name);
    });
  const lines = [...goneThings({ base, head }), ...(await goneRows({ base, head }))].filter((line) => !isPending(line));
  const advice = isKnown ? "delete this line" : "delete this line once each stack has applied it";
  return lines.map(({ kind, name, inner, path }) => {
    const what = inner ? `${inner.kind} ${inner.name} of ${name}` : `${kind} ${name}`;
    return `${head.place(["removed", ...path])}: ${what} is gone already: ${advice}`;
  });
}

/** Things and people that the base does not declare. */
function goneThings({ base, head }: Both): Line[] {
  const { organizations = [], teams = [], seeds = [], apps = [], members = {} } = head.declaration.removed;
  const { declaration } = base;
  const teamOf = (name: string) => {
    const [organization = "", team = ""] = name.split("/");
    return declaration.organizations[organization]?.teams?.[team];
  };
  const done = (kind: Line["kind"], names: readonly string[], isThere: (name: string) => boolean): Line[] =>
    names.flatMap((name, at) => (isThere(name) ? [] : [{ kind, name, path: [`${kind}s`, at] }]));
  return [
    ...done("organization", organizations, (name) => Object.hasOwn(declaration.organizations, name)),
    ...done("team", teams, (name) => teamOf(name) !== undefined),
    ...done("seed", seeds, (name) => Object.hasOwn(declaration.seeds, name)),
    ...done("app", apps, (name) => Object.hasOwn(declaration.apps, name)),
    ...Object.entries(members).flatMap(([name, addresses]) => {
      const team = teamOf(name);
      const people = team ? peopleOf(team) : new Map();
      return addresses.flatMap((email, at): Line[] =>
        people.has(email.toLowerCase())
          ? []
          : [{ kind: "team", name, inner: { kind: "person", name: email }, path: ["members", name, at] }],
      );
    }),
  ];
}

/** Rows that the base's seed has not; none of a seed that can't be read there. */
async function goneRows({ base, head }: Both): Promise<Line[]> {
  const removed: Line[] = [];
  for (const [name, keys] of Object.entries(head.declaration.removed.rows ?? {})) {
    const seed = base.declaration.seeds[name];
    if (seed?.sensitive || (seed?.source !== undefined && base.unread?.(seed.source) !== undefined)) continue;
    const left = new Map(keys.map((key, at) => [nameOf([key].flat()), at]));
    try {
      for await (const block of seed ? read(withRowEdits(seed), base.folder) : []) {
        for (const { values } of block) left.delete(keyOf(seed?.key ?? [], values));
      }
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      continue;
    }
    for (const [row, at] of left)
      removed.push({ kind: "seed", name, inner: { kind: "row", name: row }, path: ["rows", name, at] });
  }
  return removed;
}
