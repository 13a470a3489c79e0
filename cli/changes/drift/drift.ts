import { messageOf } from "../../../machine/failures.ts";
import { inParallel } from "../../../provider/client/parallel.ts";
import { ApiError } from "../../../provider/contract/errors.ts";
import { isObject } from "../../../provider/contract/wire.ts";
import { numbered } from "../../../provider/messages/text.ts";
import { factsOf, type RowWatch } from "../../../provider/resources/model/resource.ts";
import type { Resource, ResourceContext } from "../../../provider/resources/resource.ts";
import { resourceNamed } from "../../../provider/resources/resources.ts";
import { rowsByKey } from "../../../provider/resources/rows/declared/cells.ts";
import type { RowDeclaration } from "../../../provider/resources/rows/declared/declaration.ts";
import { sealFoundRows, type Drift, type FoundSecrets } from "../../../provider/resources/rows/drift.ts";
import { isHidden } from "../../../provider/sources/source.ts";
import {
  noTally,
  orderThings,
  orderChanges,
  secretText,
  toShownKind,
  type Change,
  type Field,
  type Section,
  type Thing,
} from "../model/changeSet.ts";
import { fieldOf, settingChanges, stable } from "../model/values.ts";
import { clear, holdsSealed, type StateResource } from "../state/state.ts";
import type { CountingReads } from "./countingReads.ts";
import { describeEnds, isSecretPeople } from "./ends.ts";

/** Types whose resources do not show what is on the platform now. */
const unlooked = ["Notification", "AppReadiness"];

/** Resources that are looked at side by side: reads of members become one call, and the client has its own limit. */
const maxUnderWay = 1_000;

/** Result of reading the platform. */
export interface Look {
  section: Section;
  /** Undeclared things on the platform: counted, and no drift. */
  notes: string[];
  /** Sentences about what could not be read: it may have drifted. */
  unread: string[];
  /** True if the platform refuses the login. */
  isRefused: boolean;
}

type Values = Readonly<Record<string, unknown>>;

/** Gets what a look found of a resource, beside the look itself. */
export interface Observer {
  /** Watches the rows of a seed; undefined for what has none. */
  watch: (resource: StateResource) => RowWatch | undefined;
  /** `found` is undefined for what is not there any more. */
  found: (resource: StateResource, applied: Values, found: Values | undefined) => void;
}

/** Reads everything that a state has. Changes nothing: `context` has a client that can't. */
export async function drift(
  resources: readonly StateResource[],
  context: ResourceContext & { tables: CountingReads },
  hide: (text: string) => string = (text) => text,
  observer?: Observer,
): Promise<Look> {
  const look: Look = { section: { compared: true, things: [] }, notes: [], unread: [], isRefused: false };
  const teams = new Map<string, Thing>();
  const things: Thing[] = [];
  const seen = new Map<StateResource, Values>();
  const roots = resources.filter(({ kind }) => kind === "Environment").map(({ name }) => `${name}/`);
  const known = resources.flatMap((each) => {
    const resource = unlooked.includes(each.kind) ? undefined : resourceNamed(each.kind);
    return resource ? [{ each: { ...each, name: bare(each.name, roots) }, resource }] : [];
  });
  const read = async ({ each, resource }: (typeof known)[number]): Promise<void> => {
    const warnings: string[] = [];
    const report = {
      status: () => undefined,
      info: () => undefined,
      forecast: () => undefined,
      warning: (text: string) => void warnings.push(text),
    };
    const values = withList(clear(each.values) as Values); // a map stays one
    try {
      const watch = observer?.watch(each);
      const found = await resource.read({ ...context, report, ...(watch && { watch }) }, each.id, values);
      observer?.found(each, values, found?.outputs);
      if (found) {
        seen.set(each, found.outputs);
        for (const text of warnings) look.unread.push(`${each.name}: ${hide(text)}`);
      }
      look.notes.push(...(await describeEnds(each, values, context)));
      await describeChanges({ each, resource, values, found: found?.outputs }, things, teams, context.directory);
    } catch (error) {
      if (error instanceof ApiError && error.code === "unauthorized") look.isRefused = true;
      look.unread.push(`${each.name}: ${hide(messageOf(error))}`);
    }
  };
  await inParallel(known, maxUnderWay, read);
  await countOthers(
    known.map(({ each }) => each),
    seen,
    context,
    look,
    hide,
  );
  look.unread = [...new Set(look.unread)].sort();
  look.section = { compared: true, things: orderThings([...things, ...teams.values()].toSorted(byName)) };
  return look;
}

const byName = (a: Thing, b: Thing): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

/** Rows that the program has stand in a state by their key, and a resource wants them as a list. */
const withList = ({ rows, ...values }: Values): Values =>
  isObject(rows) ? { ...values, rows: Object.values(rows) } : values;

/** The logical name of what an Environment made. */
const bare = (name: string, roots: readonly string[]): string => {
  const root = roots.find((each) => name.startsWith(each));
  return root === undefined ? name : name.slice(root.length);
};

interface Found {
  each: StateResource;
  resource: Resource;
  /** As it was applied. */
  values: Values;
  /** The live resource; undefined when it does not exist. */
  found: Values | undefined;
}

/** Notes what differs. */
async function describeChanges(
  one: Found,
  things: Thing[],
  teams: Map<string, Thing>,
  directory: string,
): Promise<void> {
  const { each, values, found } = one;
  const isSecret = isSecretPeople(each, values);
  if (each.kind === "TeamMember") {
    const fields = found ? differing(one) : [];
    if (found && fields.length === 0) return;
    const name = isSecret ? secretText : (textOf(values["email"]) ?? textOf(values["memberUserID"]) ?? each.name);
    addPeople(teams, each.name.slice(0, each.name.lastIndexOf("/")), [
      { kind: "person", op: found ? "change" : "remove", name, fields },
    ]);
    return;
  }
  if (each.kind === "TeamRoster") {
    addPeople(teams, each.name.replace(/\/roster$/, ""), found ? rosterChanges(values, found, isSecret) : []);
    return;
  }
  const kind = toShownKind(each.kind) ?? "resource";
  const empty = { kind, name: each.name, omitted: 0, notes: [], guards: [] };
  if (!found) {
    things.push({ ...empty, op: "remove", changes: [], notes: ["is not on the platform any more"] });
    return;
  }
  const settings = settingChanges(differing(one));
  const rows = each.kind === "SeedRows" ? await rowChanges(values, found, directory) : undefined;
  if (settings.length === 0 && !rows) return;
  things.push({ ...empty, op: "change", ...rows, changes: orderChanges([...settings, ...(rows?.changes ?? [])]) });
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** Names of the inputs that are otherwise than they were applied. */
export function listDrifted({ inputs }: Pick<Resource, "inputs">, applied: Values, found: Values): string[] {
  return Object.entries(inputs.shape).flatMap(([name, schema]) => {
    const { ignoredInDiff, computed, writeOnly, keyedBy } = factsOf(schema);
    if (ignoredInDiff || computed || writeOnly || keyedBy !== undefined) return [];
    return stable(applied[name] ?? null) === stable(found[name] ?? null) ? [] : [name];
  });
}

const differing = ({ each, resource, values, found = {} }: Found): Field[] =>
  listDrifted(resource, values, found).map((name) =>
    fieldOf(name, values[name] ?? undefined, found[name] ?? undefined, holdsSealed(each.values[name])),
  );

function addPeople(teams: Map<string, Thing>, name: string, changes: Change[]): void {
  if (changes.length === 0) return;
  const thing = teams.get(name) ?? {
    kind: "team",
    name,
    op: "change",
    people: noTally(),
    changes: [],
    omitted: 0,
    notes: [],
    guards: [],
  };
  const people = { ...noTally(), ...thing.people };
  for (const { op } of changes) people[op]++;
  teams.set(name, {
    ...thing,
    people,
    changes: orderChanges([...thing.changes, ...changes].toSorted((a, b) => (a.name < b.name ? -1 : 1))),
  });
}

function rosterChanges(values: Values, found: Values, isSecret: boolean): Change[] {
  const rolesIn = (from: Values): Map<string, unknown> =>
    new Map(isObject(from["members"]) ? Object.entries(from["members"]) : []);
  const [was, is] = [rolesIn(values), rolesIn(found)];
  return [...new Set([...was.keys(), ...is.keys()])].flatMap((email): Change[] => {
    const [before, after] = [was.get(email), is.get(email)];
    if (before === after) return [];
    const op = after === undefined ? "remove" : before === undefined ? "add" : "change";
    return [{ kind: "person", op, name: isSecret ? secretText : email, fields: [fieldOf("role", before, after)] }];
  });
}

/** Changes of rows since the last run, as the seed itself observed them. */
async function rowChanges(
  values: Values,
  found: Values,
  directory: string,
): Promise<Pick<Thing, "rows" | "changes" | "omitted"> | undefined> {
  const seen = found["drift"] as Drift | undefined; // of the seed's own schema
  if (!seen) return undefined;
  const { changed, missing, changedKeys, missingKeys } = seen;
  const seed = values as unknown as RowDeclaration; // as it was applied
  const declared = await rowsByKey(seed, directory, changedKeys);
  const there = sealFoundRows(seed, seen, found["foundSecrets"] as FoundSecrets | undefined);
  const fields = (key: string): Field[] => {
    const [was, is] = [declared.get(key), there.get(key)];
    if (!was || !is) return [];
    return Object.keys(was).flatMap((label) =>
      stable(was[label] ?? null) === stable(is[label] ?? null)
        ? []
        : [fieldOf(label, was[label], is[label], isHidden(seed, label))],
    );
  };
  const changes = [
    ...missingKeys.map((name): Change => ({ kind: "row", op: "remove", name, fields: [] })),
    ...changedKeys.map((name): Change => ({ kind: "row", op: "change", name, fields: fields(name) })),
  ];
  const count = values["rowCount"];
  const same = typeof count === "number" ? count - changed - missing : 0;
  return {
    rows: { add: 0, change: changed, remove: missing, same },
    changes,
    omitted: changed + missing - changes.length,
  };
}

/** Counts members whom nobody declares and rows beside those of this stack. */
async function countOthers(
  resources: readonly StateResource[],
  seen: ReadonlyMap<StateResource, Values>,
  { client, members, tables }: ResourceContext & { tables: CountingReads },
  look: Look,
  hide: (text: string) => string,
): Promise<void> {
  const declared = new Map<string, Set<unknown>>();
  for (const [{ kind }, values] of seen) {
    if (kind !== "TeamMember" && kind !== "TeamRoster") continue;
    const team = String(values["teamID"]);
    const known = declared.get(team) ?? new Set();
    for (const id of [
      values["memberUserID"],
      ...(Array.isArray(values["userIDs"]) ? (values["userIDs"] as unknown[]) : []),
    ])
      known.add(id);
    declared.set(team, known);
  }
  const teams = resources.filter((each) => each.kind === "Team" && seen.has(each));
  await inParallel(teams, maxUnderWay, async (team) => {
    try {
      // The account that made a team is in it.
      const known = new Set(declared.get(team.id)).add(await client.callerID());
      const others = (await members.list(team.id))?.filter(({ userID }) => !known.has(userID)) ?? [];
      if (others.length > 0) look.notes.push(`${team.name}: ${numbered(others.length, "member")} whom nobody declares`);
    } catch (error) {
      look.unread.push(`${team.name}: ${hide(messageOf(error))}`);
    }
  });
  for (const [table, count] of tables.counts) {
    const seeds = [...seen].filter(([{ kind, values }]) => kind === "SeedRows" && values["table"] === table);
    if (seeds.length === 0) continue;
    const ours = seeds.reduce((sum, [{ values }, found]) => {
      const missing = isObject(found["drift"]) ? Number(found["drift"]["missing"]) : 0;
      return sum + Number(values["rowCount"]) - missing;
    }, 0);
    if (count > ours) look.notes.push(`table ${table}: ${numbered(count - ours, "row")} beside those of this stack`);
  }
  look.notes.sort();
}
