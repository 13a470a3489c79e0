import { newState, type PropertyMap, type ResourceState } from "../../engine/decide.ts";
import { messageOf } from "../../machine/failures.ts";
import type { CallOptions } from "../../platform/client/http/call.ts";
import { inParallel } from "../../platform/client/lists.ts";
import type { Row, RowData } from "../../platform/contract/values.ts";
import { ApiError, isObject, entryIn } from "../../platform/contract/wire.ts";
import { formatCount } from "../../platform/messages/text.ts";
import { topName, type DeclaredThing as Declaring } from "../../provider/environment/things.ts";
import { TableReads } from "../../provider/pulumi/tableReads.ts";
import {
  describeOver,
  describeSoon,
  type Ends,
  findDeclared,
  type PeoplePlace,
  splitEnds,
} from "../../provider/resources/declaredPeople.ts";
import { findRole } from "../../provider/resources/memberships.ts";
import { toPlannedUrn } from "../../provider/resources/model/identities.ts";
import type { RowWatch } from "../../provider/resources/model/resource.ts";
import type { ResourceContext } from "../../provider/resources/resource.ts";
import { resourceNamed } from "../../provider/resources/resources.ts";
import { changedLabels } from "../../provider/seedRows/cells.ts";
import { maxRows, rowsByKey, withoutSecrets } from "../../provider/seedRows/declaration.ts";
import type { Drift, Seed } from "../../provider/seedRows/inputs.ts";
import { isHidden } from "../../provider/seedRows/source/source.ts";
import {
  type Change,
  type Field,
  fieldOf,
  noTally,
  orderChanges,
  orderThings,
  secretText,
  type Section,
  settingChanges,
  stable,
  type Thing,
  toShownKind,
} from "./changeSet.ts";
import { comparePeople, isOfPeople } from "./people.ts";
import { type PlannedStep, planOf, toBefore, toPlain } from "./planner.ts";
import { holdsSecret, type StateResource } from "./state.ts";

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
  /** `found` is undefined for what is not there any more; `changed` are the names of settings that a run would put back. */
  found: (resource: StateResource, applied: Values, found: Values | undefined, changed: readonly string[]) => void;
  /** Gets the people of a team whom nobody declares; undefined where they are only counted. */
  others?: ((team: StateResource, people: { name: string; role: string | undefined }[]) => void) | undefined;
}

/** Reads everything that a state has. Changes nothing: `context` has a client that can't. */
export async function drift(
  resources: readonly StateResource[],
  context: LookingContext,
  hide: (text: string) => string = (text) => text,
  observer?: Observer,
): Promise<Look> {
  const look: Look = { section: { compared: true, things: [] }, notes: [], unread: [], isRefused: false };
  const unread = (name: string, text: string): void => void look.unread.push(`${name}: ${hide(text)}`);
  const roots = resources.filter(({ kind }) => kind === "Environment").map(({ name }) => `${name}/`);
  const known = resources
    .filter(({ kind }) => !unlooked.includes(kind) && resourceNamed(kind))
    .map((each) => ({ ...each, name: bare(each.name, roots) }));
  const found = new Map<StateResource, Looked>();
  await inParallel(known, maxUnderWay, async (each) => {
    try {
      const { warnings, notes, ...looked } = await lookAt(each, context, observer);
      found.set(each, looked);
      look.notes.push(...notes);
      for (const text of warnings) unread(each.name, text);
    } catch (error) {
      if (error instanceof ApiError && error.code === "unauthorized") look.isRefused = true;
      unread(each.name, messageOf(error));
    }
  });
  const looked = known.flatMap((each) => found.get(each) ?? []); // whichever was read first
  const there = looked.flatMap((one) => (one.found ? [{ ...one, found: one.found }] : []));
  const people = Map.groupBy(
    there.filter(({ each }) => isOfTeam(each.kind)),
    ({ found }) => String(found["teamID"]),
  );
  const teams = there.filter(({ each }) => each.kind === "Team").map(({ each }) => each);
  await inParallel(teams, maxUnderWay, async (team) => {
    try {
      look.notes.push(...(await countStrangers(team, people.get(team.id) ?? [], context, observer?.others)));
    } catch (error) {
      unread(team.name, messageOf(error));
    }
  });
  look.notes = [...look.notes, ...countForeignRows(there, context.tables)].sort();
  look.unread = [...new Set(look.unread)].sort();
  const things = await describeChanges(looked, context.directory, observer);
  look.section = { compared: true, things: orderThings(things.toSorted(byName)) };
  return look;
}

type LookingContext = ResourceContext & { tables: CountingReads };

const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

/** A resource of a state beside what is on the platform. */
interface Looked {
  each: StateResource;
  /** As it was applied. */
  values: Values;
  /** The first rows of a seed that were changed, as they are on the platform. */
  rows?: ReadonlyMap<string, RowData>;
  /** The live resource; undefined when it does not exist. */
  found: Values | undefined;
}

async function lookAt(
  each: StateResource,
  context: LookingContext,
  observer: Observer | undefined,
): Promise<Looked & { warnings: string[]; notes: string[] }> {
  const warnings: string[] = [];
  const ignore = (): undefined => undefined;
  const warning = (text: string): void => void warnings.push(text);
  const report = { status: ignore, info: ignore, forecast: ignore, warning };
  const observed = observer?.watch(each);
  const rows = new Map<string, RowData>();
  const changed = (key: string, row: RowData): void => {
    if (rows.size < maxRows) rows.set(key, row);
    observed?.changed(key, row);
  };
  const watch = { foreign: ignore, missing: ignore, ...observed, changed };
  const values = withList(toPlain(each.values as PropertyMap)); // a map stays one
  const found = await resourceNamed(each.kind)?.read({ ...context, report, watch }, each.id, values);
  const notes = await describeEnds(each, values, context);
  return { each, values, rows, found: found?.outputs, warnings: found ? warnings : [], notes };
}

/** Rows that the program has stand in a state by their key, or with edits as a list; a resource wants them as a list. */
const withList = (values: Values): Values =>
  isObject(values["rows"]) ? { ...values, rows: Object.values(values["rows"]) } : values;

/** The logical name of what an Environment made. */
const bare = (name: string, roots: readonly string[]): string => {
  const root = roots.find((each) => name.startsWith(each));
  return root === undefined ? name : name.slice(root.length);
};

/** Notes of each thing what differs. */
async function describeChanges(
  looked: readonly Looked[],
  directory: string,
  observer: Observer | undefined,
): Promise<Thing[]> {
  const things: Thing[] = [];
  const isSeed = ({ each }: Looked): boolean => each.kind === "SeedRows";
  for (const { each, values, rows, found } of looked.filter(isSeed)) {
    const changes = found && (await rowChanges(values, found, rows, directory));
    if (!found || changes) things.push(thingOf(each, found, changes));
  }
  const back = await planPutBack(
    looked.filter((one) => !isSeed(one)),
    directory,
  );
  const changed = new Map(back.map((one) => [one.each, listChangedByHand(one)]));
  for (const { each, values, found } of looked) observer?.found(each, values, found, changed.get(each) ?? []);
  for (const one of back) {
    if (isOfPeople(one.step)) continue;
    const changes = one.found ? settingChanges(settingsByHand(one)) : [];
    if (!one.found || changes.length > 0) things.push(thingOf(one.each, one.found, { changes }));
  }
  const people = Map.groupBy(
    back.filter(({ step }) => isOfPeople(step)),
    (one) => teamOf(one, back),
  );
  for (const [name, own] of people) {
    const at = things.findIndex((thing) => thing.kind === "team" && thing.name === name);
    const team: Thing = things[at] ?? { ...unchanged("team", name), op: "change" };
    const changes = team.op === "remove" ? [] : peopleByHand(own);
    if (changes.length > 0) things.splice(at < 0 ? things.length : at, 1, withPeople(team, changes));
  }
  return things;
}

const unchanged = (kind: Thing["kind"], name: string): Omit<Thing, "op"> => ({
  ...{ kind, name, changes: [], omitted: 0, notes: [], guards: [] },
});

function thingOf({ kind, name }: StateResource, found: Values | undefined, more: Partial<Thing> = {}): Thing {
  const thing = unchanged(toShownKind(kind) ?? "resource", name);
  if (!found) return { ...thing, op: "remove", notes: ["is not on the platform any more"] };
  return { ...thing, ...more, op: "change", changes: orderChanges(more.changes ?? []) };
}

/** The name of somebody's team, which a program may have outside of this stack. */
function teamOf({ each, values, found }: Looked, all: readonly Looked[]): string {
  const id = found?.["teamID"] ?? values["teamID"];
  const team = all.find((one) => one.each.kind === "Team" && one.each.id === id);
  if (team) return team.each.name;
  const at = each.name.lastIndexOf("/");
  return at < 0 ? `team ${String(id)}` : each.name.slice(0, at);
}

function withPeople(team: Thing, changes: readonly Change[]): Thing {
  const people = noTally();
  for (const { op } of changes) people[op]++;
  return { ...team, people, changes: orderChanges([...team.changes, ...changes.toSorted(byName)]) };
}

/** Expectations of a seed that do not hold, as settings that changed. */
function unmetChanges({ unmet }: Values): Change[] {
  const sentences = Array.isArray(unmet) ? (unmet as string[]) : []; // of the seed's own schema
  return settingChanges(
    sentences.map((sentence) => {
      const [name = "", ...text] = sentence.split(": ");
      return fieldOf(name, "holds", text.join(": "));
    }),
  );
}

/** Changes of rows since the last run, as the seed itself observed them. */
async function rowChanges(
  values: Values,
  found: Values,
  there: ReadonlyMap<string, RowData> | undefined,
  directory: string,
): Promise<Pick<Thing, "rows" | "changes" | "omitted"> | undefined> {
  const seen = found["drift"] as Drift | undefined; // of the seed's own schema
  const unmet = unmetChanges(found);
  if (!seen) return unmet.length === 0 ? undefined : { changes: unmet, omitted: 0 };
  const { changed, missing, changedKeys, missingKeys } = seen;
  const seed = values as unknown as Seed; // as it was applied
  const declared = await rowsByKey(seed, directory, changedKeys);
  const fields = (key: string): Field[] => {
    const [was, row] = [declared.get(key), there?.get(key)];
    const is = withoutSecrets(
      seed,
      Object.fromEntries(Object.keys(was ?? {}).map((label) => [label, entryIn(row, label)])),
    );
    if (!was || !row) return [];
    return changedLabels(seed, was, is).map((label) => fieldOf(label, was[label], is[label], isHidden(seed, label)));
  };
  const changes = [
    ...unmet,
    ...missingKeys.map((name): Change => ({ kind: "row", op: "remove", name, fields: [] })),
    ...changedKeys.map((name): Change => ({ kind: "row", op: "change", name, fields: fields(name) })),
  ];
  const count = values["rowCount"];
  const same = typeof count === "number" ? count - changed - missing : 0;
  return {
    rows: { add: 0, change: changed, remove: missing, same },
    changes,
    omitted: changed + missing + unmet.length - changes.length,
  };
}

type Found = Looked & { found: Values };

/** Counts members whom nobody declares. The account that made a team is in it. */
async function countStrangers(
  team: StateResource,
  declared: readonly Found[],
  context: LookingContext,
  take: Observer["others"],
): Promise<string[]> {
  const { client, members } = context;
  const known = new Set<unknown>([await client.callerID()]);
  for (const { memberUserID, userIDs } of declared.map(({ found }) => found))
    for (const id of [memberUserID, ...(Array.isArray(userIDs) ? (userIDs as unknown[]) : [])]) known.add(id);
  const others = (await members.list(team.id))?.filter(({ userID }) => !known.has(userID)) ?? [];
  if (take) {
    const roleOf = (each: (typeof others)[number]) => findRole(context, team.id, each);
    take(
      team,
      await Promise.all(others.map(async (each) => ({ name: each.email ?? each.userID, role: await roleOf(each) }))),
    );
  }
  return others.length === 0 ? [] : [`${team.name}: ${formatCount(others.length, "member")} whom nobody declares`];
}

/** Counts rows beside those of this stack. */
function countForeignRows(there: readonly Found[], { counts }: CountingReads): string[] {
  const seeds = there.filter(({ each }) => each.kind === "SeedRows");
  return [...Map.groupBy(seeds, ({ each }) => String(each.values["table"]))].flatMap(([table, own]) => {
    const ours = own.reduce((sum, { each, found: { drift } }) => {
      const missing = isObject(drift) ? Number(drift["missing"]) : 0;
      return sum + Number(each.values["rowCount"]) - missing;
    }, 0);
    const more = (counts.get(table) ?? 0) - ours;
    return more > 0 ? [`table ${table}: ${formatCount(more, "row")} beside those of this stack`] : [];
  });
}

/** Reads of tables that remember how many rows each has. */
export class CountingReads extends TableReads {
  readonly counts = new Map<string, number>();

  override async *read(table: string, call: CallOptions = {}): AsyncGenerator<Row[], void, undefined> {
    let count = 0;
    for await (const page of super.read(table, call)) {
      count += page.length;
      yield page;
    }
    this.counts.set(table, count);
  }
}

/** True if no report may name the people of a resource. */
const isSecretPeople = ({ values }: StateResource, clear: Values): boolean =>
  clear["sensitive"] === true || holdsSecret(values["email"]) || holdsSecret(values["members"]);

/** Names the people of a state whose end has passed, who leave with the next up, and those who end soon. */
export async function describeEnds(each: StateResource, values: Values, place: PeoplePlace): Promise<string[]> {
  const ends = await endsOf(each.kind, values, place);
  if (!ends) return [];
  const isHidden = isSecretPeople(each, values);
  const team = each.kind === "TeamRoster" ? each.name.replace(/\/roster$/, "") : each.name.replace(/\/[^/]*$/, "");
  const members = isObject(values["members"]) ? values["members"] : undefined;
  const isThere = (name: string): boolean => members === undefined || Object.hasOwn(members, name);
  const over = describeOver(ends, isHidden, isThere).map((text) => `${text}; the next up removes them`);
  return [...over, ...describeSoon(ends, isHidden)].map((text) => `${team}: ${text}`);
}

async function endsOf(kind: string, values: Values, place: PeoplePlace): Promise<Ends | undefined> {
  const { until, source, team, email, memberUserID, ended } = values;
  if (kind === "TeamMember") {
    if (typeof until !== "string" || ended === true) return undefined;
    return splitEnds([{ name: typeof email === "string" ? email : String(memberUserID), until }], place.day);
  }
  if (kind !== "TeamRoster") return undefined;
  if (typeof source === "string") {
    const file = { source, team: typeof team === "string" ? team : undefined };
    return (await findDeclared(file, place)).ends;
  }
  if (!isObject(until)) return undefined;
  const people = Object.entries(until).map(([name, day]) => ({ name, until: String(day) }));
  return splitEnds(people, place.day);
}

/** A step of the run that puts back what was applied. */
interface PutBack extends Looked {
  step: PlannedStep;
}

/** Plans the run that puts everything back, but for rows: the platform is what is known, the state what is declared. */
export async function planPutBack(looked: readonly Looked[], folder: string): Promise<PutBack[]> {
  const things = looked.map(({ each, values }) => toThing(each, values));
  const state = looked.flatMap(({ each, values, found }) => (found ? [toState(each, values, found)] : []));
  const steps = await planOf({ folder }, toBefore(state), things);
  const found = new Map(steps.map((step) => [step.thing?.key, step]));
  return looked.flatMap((one) => {
    const step = found.get(keyOf(one.each));
    return step ? [{ ...one, step }] : [];
  });
}

const keyOf = ({ kind, name }: StateResource): string => `${kind} ${name}`;

function toThing({ kind, name }: StateResource, values: Values): Declaring {
  const shape = resourceNamed(kind)?.inputs.shape ?? {};
  const inputs = Object.fromEntries(Object.entries(withoutEnds(kind, values)).filter(([input]) => input in shape));
  const empty = { links: {}, seeds: {}, path: [], others: [] };
  return {
    ...empty,
    kind: kind as Declaring["kind"],
    name: topName(`environment/${name}`),
    key: `${kind} ${name}`,
    inputs,
  };
}

const toState = ({ kind, name, id }: StateResource, inputs: Values, outputs: Values): ResourceState =>
  newState({
    ...{ urn: toPlannedUrn(kind, name), type: kind, custom: true, id },
    ...{ inputs: withoutEnds(kind, inputs) as PropertyMap, outputs: withoutEnds(kind, outputs) as PropertyMap },
  });

/** The values with the people whom the last run had: nobody leaves by hand because a day has passed. */
function withoutEnds(kind: string, values: Values): Values {
  if (!isOfTeam(kind) || values["ended"] === true) return values;
  return Object.fromEntries(Object.entries(values).filter(([name]) => !["until", "source", "team"].includes(name)));
}

const isOfTeam = (kind: string): boolean => ["TeamMember", "TeamRoster"].includes(kind);

/** Settings that the run would put back, from what was applied to what was found. */
const settingsByHand = ({ each, values, found = {}, step }: PutBack): Field[] =>
  listChangedByHand({ values, found, step }).map((name) =>
    fieldOf(name, values[name] ?? undefined, found[name] ?? undefined, holdsSecret(each.values[name])),
  );

/** Names of settings that the run would put back. A default that the state lacks was changed by nobody. */
const listChangedByHand = ({ values, found = {}, step }: Omit<PutBack, "each">): string[] =>
  step.changed.filter((name) => stable(values[name] ?? null) !== stable(found[name] ?? null));

const nowhere = { place: () => "" };
const inverse = { add: "remove", remove: "add", change: "change" } as const;

/** People of one team that the run would put back: from those who were applied to those who were found. */
export function peopleByHand(all: readonly PutBack[]): Change[] {
  const people = all.filter(({ step }) => isOfPeople(step));
  const { changes } = comparePeople(
    people.map(({ step }) => step),
    { base: undefined, head: nowhere },
    false,
  );
  const isHidden = ({ values, each }: PutBack): boolean =>
    values["sensitive"] === true || holdsSecret(each.values["members"]);
  const secret = new Set(
    people.flatMap(({ each, values }) => (holdsSecret(each.values["email"]) ? values["email"] : [])),
  );
  return changes.map(({ kind, op, name, fields }) => ({
    kind,
    op: inverse[op],
    name: people.some(isHidden) || secret.has(name) ? secretText : name,
    fields: fields.map(inverted),
  }));
}

const inverted = ({ before, after, ...field }: Field): Field => ({
  ...field,
  ...(after === undefined ? {} : { before: after }),
  ...(before === undefined ? {} : { after: before }),
});
