import { today } from "../../machine/settings/today.ts";
import { isObject } from "../../provider/contract/wire.ts";
import { withRowEdits } from "../../provider/environment/schema.ts";
import { things, type DeclaredThing as Declaring } from "../../provider/environment/things/things.ts";
import { settlePeople } from "../../provider/resources/members/declaredPeople.ts";
import { keyOf } from "../../provider/resources/rows/declared/declaration.ts";
import { read, SourceError } from "../../provider/sources/read.ts";
import type { Section, Thing } from "./model/changeSet.ts";
import type { Both } from "./model/source.ts";

/** Subject of a line under `removed`: a thing, or a person or row of it. */
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
  const lines = [...(await goneThings({ base, head })), ...(await goneRows({ base, head }))].filter(
    (line) => !isPending(line),
  );
  const advice = isKnown ? "delete this line" : "delete this line once each stack has applied it";
  return lines.map(({ kind, name, inner, path }) => {
    const what = inner ? `${inner.kind} ${inner.name} of ${name}` : `${kind} ${name}`;
    return `${head.place(["removed", ...path])}: ${what} is gone already: ${advice}`;
  });
}

/** Things and people that the base does not declare. */
async function goneThings({ base, head }: Both): Promise<Line[]> {
  const { organizations = [], teams = [], seeds = [], apps = [], members = {} } = head.declaration.removed;
  const place = { directory: base.folder, day: today() };
  const all = await Promise.all(
    things(base.declaration).map(async (thing) => ({
      ...thing,
      inputs: await settlePeople(thing.kind, thing.inputs, place),
    })),
  );
  const there = new Set(all.map(({ key }) => key));
  const people = new Set(all.flatMap(addressesIn));
  const done = (kind: Line["kind"], type: string, names: readonly string[]): Line[] =>
    names.flatMap((name, at) => (there.has(`${type} ${name}`) ? [] : [{ kind, name, path: [`${kind}s`, at] }]));
  return [
    ...done("organization", "Organization", organizations),
    ...done("team", "Team", teams),
    ...done("seed", "SeedRows", seeds),
    ...done("app", "GeneratedApp", apps),
    ...Object.entries(members).flatMap(([name, addresses]) =>
      addresses.flatMap((email, at): Line[] =>
        people.has(`Team ${name} ${email.toLowerCase()}`)
          ? []
          : [{ kind: "team", name, inner: { kind: "person", name: email }, path: ["members", name, at] }],
      ),
    ),
  ];
}

/** The people that a thing declares, each with the team. */
const addressesIn = ({ kind, inputs: { email, userID, members, ended }, above = "" }: Declaring): string[] => {
  if (ended === true) return [];
  const all = kind === "TeamRoster" && isObject(members) ? Object.keys(members) : [email ?? userID];
  const names = all.filter((name): name is string => typeof name === "string");
  return names.map((each) => `${above} ${each.toLowerCase()}`);
};

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

/** The parts of a natural key as the name of a row. */
const nameOf = (parts: readonly unknown[]): string =>
  keyOf(
    parts.map((_, at) => String(at)),
    Object.fromEntries(parts.entries()),
  );
