import { type Document, isMap, isSeq, parseDocument } from "yaml";
import { z } from "zod";
import { newState, type PropertyMap, type ResourceState } from "../../engine/decide.ts";
import { messageOf } from "../../machine/failures.ts";
import type { CallOptions } from "../../platform/client/http/call.ts";
import { inParallel } from "../../platform/client/lists.ts";
import type { Row, RowData } from "../../platform/contract/values.ts";
import { ApiError, entryIn, isObject } from "../../platform/contract/wire.ts";
import { formatCount } from "../../platform/messages/text.ts";
import { type DeclaredThing as Declaring, topName } from "../../provider/environment/things.ts";
import {
  describeOver,
  describeSoon,
  type Ends,
  findDeclared,
  type PeoplePlace,
  splitEnds,
} from "../../provider/people/people.ts";
import { toPlannedUrn } from "../../provider/pulumi/names.ts";
import { TableReads } from "../../provider/pulumi/platform.ts";
import { findRole } from "../../provider/resources/memberships.ts";
import { type Context, type RowWatch } from "../../provider/resources/resource.ts";
import { resourceNamed } from "../../provider/resources/resources.ts";
import { changedLabels } from "../../provider/seedRows/cells.ts";
import { rowsByKey, withoutSecrets } from "../../provider/seedRows/declaration.ts";
import type { Drift, Seed } from "../../provider/seedRows/inputs.ts";
import { maxShown } from "../../provider/seedRows/preview.ts";
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
import { checkedIn, driftFile } from "./environments.ts";
import { type PlannedStep, planOf, toBefore, toPlain } from "./planner.ts";
import { comparePeople, isOfPeople } from "./section.ts";
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
  /** What was read, in the order of the state. */
  looked: readonly Looked[];
  /** By the name of the team: people whom nobody declares. */
  strangers: ReadonlyMap<string, readonly Stranger[]>;
}

/** A look at nothing. */
export const nothingSeen = (): Look => ({
  ...{ section: { compared: true, things: [] }, notes: [], unread: [], isRefused: false },
  ...{ looked: [], strangers: new Map() },
});

type Values = Readonly<Record<string, unknown>>;

/** A resource of a state beside what is on the platform. */
export interface Looked {
  each: StateResource;
  /** As it was applied. */
  values: Values;
  /** The live resource; undefined when it does not exist. */
  found: Values | undefined;
  /** Of a seed. */
  rows: SeenRows;
  /** Names of settings that a run would put back. */
  changed: readonly string[];
}

/** Rows of a seed that are not as they were applied, as they are on the platform. */
interface SeenRows {
  /** By their keys: the first ones, unless all are kept. */
  changed: Map<string, RowData>;
  foreign: RowData[];
  missing: readonly string[];
}

/** Somebody in a team whom nobody declares: by address, or by user ID where the platform shows none. */
export interface Stranger {
  name: string;
  /** In the platform's words. */
  role: string | undefined;
}

/** What a look keeps beside a report: all rows that changed, and rows and people that nobody owns. */
export interface Keeping {
  changed?: boolean;
  foreign?: boolean | undefined;
}

/** Reads everything that a state has. Changes nothing: `context` has a client that can't. */
export async function drift(
  resources: readonly StateResource[],
  context: LookingContext,
  hide: (text: string) => string = (text) => text,
  keeping: Keeping = {},
): Promise<Look> {
  const look = nothingSeen();
  const unread = (name: string, text: string): void => void look.unread.push(`${name}: ${hide(text)}`);
  const roots = resources.filter(({ kind }) => kind === "Environment").map(({ name }) => `${name}/`);
  const known = resources
    .filter(({ kind }) => !unlooked.includes(kind) && resourceNamed(kind))
    .map((each) => ({ ...each, name: bare(each.name, roots) }));
  const found = new Map<StateResource, Looked>();
  await inParallel(known, maxUnderWay, async (each) => {
    try {
      const { warnings, notes, ...looked } = await lookAt(each, context, keeping);
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
  const strangers = new Map<string, Stranger[]>();
  await inParallel(teams, maxUnderWay, async (team) => {
    try {
      const others = await findStrangers(team, people.get(team.id) ?? [], context);
      if (others.length > 0)
        look.notes.push(`${team.name}: ${formatCount(others.length, "member")} whom nobody declares`);
      if (!keeping.foreign) return;
      const roles = await Promise.all(others.map((each) => findRole(context, team.id, each)));
      strangers.set(
        team.name,
        others.map(({ email, userID }, at) => ({ name: email ?? userID, role: roles[at] })),
      );
    } catch (error) {
      unread(team.name, messageOf(error));
    }
  });
  look.notes = [...look.notes, ...countForeignRows(there, context.tables)].sort();
  look.unread = [...new Set(look.unread)].sort();
  const isSeed = ({ each }: Looked): boolean => each.kind === "SeedRows";
  const back = await planPutBack(
    looked.filter((one) => !isSeed(one)),
    context.directory,
  );
  const changed = new Map(back.map((one) => [one.each, one.changed]));
  const things = [...(await changesOfSeeds(looked.filter(isSeed), context.directory)), ...changesOf(back)];
  return {
    ...look,
    section: { compared: true, things: orderThings(things.toSorted(byName)) },
    looked: looked.map((one) => ({ ...one, changed: changed.get(one.each) ?? [] })),
    strangers,
  };
}

type LookingContext = Context & { tables: CountingReads };

const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);

async function lookAt(
  each: StateResource,
  context: LookingContext,
  keeping: Keeping,
): Promise<Looked & { warnings: string[]; notes: string[] }> {
  const warnings: string[] = [];
  const report = { ...context.report, warning: (text: string) => void warnings.push(text) };
  const rows: SeenRows = { changed: new Map(), foreign: [], missing: [] };
  const watch: RowWatch = {
    changed: (key, row) => {
      if (keeping.changed || rows.changed.size < maxShown) rows.changed.set(key, row);
    },
    foreign: (row) => {
      if (keeping.foreign) rows.foreign.push(row);
    },
    missing: (keys) => {
      rows.missing = keys;
    },
  };
  const values = withList(toPlain(each.values as PropertyMap)); // a map stays one
  const found = await resourceNamed(each.kind)?.read({ ...context, report, watch }, each.id, values);
  const notes = await describeEnds(each, values, context);
  return { each, values, rows, changed: [], found: found?.outputs, warnings: found ? warnings : [], notes };
}

/** Rows that the program has stand in a state by their key, or with edits as a list; a resource wants them as a list. */
const withList = (values: Values): Values =>
  isObject(values["rows"]) ? { ...values, rows: Object.values(values["rows"]) } : values;

/** The logical name of what an Environment made. */
const bare = (name: string, roots: readonly string[]): string => {
  const root = roots.find((each) => name.startsWith(each));
  return root === undefined ? name : name.slice(root.length);
};

async function changesOfSeeds(seeds: readonly Looked[], directory: string): Promise<Thing[]> {
  const things: Thing[] = [];
  for (const { each, values, rows, found } of seeds) {
    const changes = found && (await rowChanges(values, found, rows.changed, directory));
    if (!found || changes) things.push(thingOf(each, found, changes));
  }
  return things;
}

function changesOf(back: readonly PutBack[]): Thing[] {
  const things: Thing[] = [];
  for (const { each, found, step, changed, values } of back) {
    if (isOfPeople(step)) continue;
    const fields = changed.map((name) =>
      fieldOf(name, values[name] ?? undefined, found?.[name] ?? undefined, holdsSecret(each.values[name])),
    );
    if (!found || fields.length > 0) things.push(thingOf(each, found, { changes: settingChanges(fields) }));
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
function teamOf({ each, values, found }: Applied, all: readonly Applied[]): string {
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
  there: ReadonlyMap<string, RowData>,
  directory: string,
): Promise<Pick<Thing, "rows" | "changes" | "omitted"> | undefined> {
  const seen = found["drift"] as Drift | undefined; // of the seed's own schema
  const unmet = unmetChanges(found);
  if (!seen) return unmet.length === 0 ? undefined : { changes: unmet, omitted: 0 };
  const { changed, missing, changedKeys, missingKeys } = seen;
  const seed = values as unknown as Seed; // as it was applied
  const declared = await rowsByKey(seed, directory, changedKeys);
  const fields = (key: string): Field[] => {
    const [was, row] = [declared.get(key), there.get(key)];
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

/** Members whom nobody declares. The account that made a team is in it. */
async function findStrangers(team: StateResource, declared: readonly Found[], { client, members }: LookingContext) {
  const known = new Set<unknown>([await client.callerID()]);
  for (const { memberUserID, userIDs } of declared.map(({ found }) => found))
    for (const id of [memberUserID, ...(Array.isArray(userIDs) ? (userIDs as unknown[]) : [])]) known.add(id);
  return (await members.list(team.id))?.filter(({ userID }) => !known.has(userID)) ?? [];
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

type Applied = Pick<Looked, "each" | "values" | "found">;

/** A step of the run that puts back what was applied. */
interface PutBack extends Applied {
  step: PlannedStep;
  /** Names of settings that the run would put back. A default that the state lacks was changed by nobody. */
  changed: string[];
}

/** Plans the run that puts everything back, but for rows: the platform is what is known, the state what is declared. */
export async function planPutBack(looked: readonly Applied[], folder: string): Promise<PutBack[]> {
  const things = looked.map(({ each, values }) => toThing(each, values));
  const state = looked.flatMap(({ each, values, found }) => (found ? [toState(each, values, found)] : []));
  const steps = await planOf({ folder }, toBefore(state), things);
  const byKey = new Map(steps.map((step) => [step.thing?.key, step]));
  return looked.flatMap(({ each, values, found }) => {
    const step = byKey.get(keyOf(each));
    const isOther = (name: string): boolean => stable(values[name] ?? null) !== stable(found?.[name] ?? null);
    return step ? [{ each, values, found, step, changed: step.changed.filter(isOther) }] : [];
  });
}

const keyOf = ({ kind, name }: StateResource): string => `${kind} ${name}`;

function toThing({ kind, name }: StateResource, values: Values): Declaring {
  const shape = resourceNamed(kind)?.inputs.shape ?? {};
  const inputs = Object.fromEntries(Object.entries(withoutEnds(kind, values)).filter(([input]) => input in shape));
  const empty = { links: {}, after: [], seeds: {}, path: [], others: [] };
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

/** Days for which drift may be accepted. */
const maxDays = 90;
const day = 24 * 60 * 60 * 1000;

const exact = z
  .string()
  .min(1)
  .refine((text) => !text.includes("*"), "must be exact: no pattern matches everything");
const entry = z.strictObject({
  environment: exact,
  thing: exact,
  name: exact.optional(),
  because: z.string().min(1),
  until: z.iso.date("must be a day such as 2030-01-31"),
});

/** Drift that a person accepted: of a thing, or of one person, row or setting of it. */
export interface Accepted extends z.output<typeof entry> {
  place: string;
}

/** Reads drift.yaml; mistakes in it end with one error. */
export function parseAccepted(text: string, now: number): Accepted[] {
  const until = entry.shape.until.refine((each) => !(Date.parse(each) > now + maxDays * day), {
    message: `is more than ${maxDays} days away: name an earlier day`,
  });
  const { data, at } = checkedIn(text, driftFile, z.array(entry.extend({ until })), []);
  return data.map((each, index) => ({ ...each, place: at([index]) }));
}

const isOver = ({ until }: Accepted, now: number): boolean => Date.parse(until) + day <= now;

/** Finds what accepts a change of a thing of an environment, or its absence. */
export const tolerating =
  (environment: string, entries: readonly Accepted[], now: number) =>
  (thing: string, name: string | undefined): Accepted | undefined =>
    entries.find(
      (each) => each.environment === environment && each.thing === thing && each.name === name && !isOver(each, now),
    );

/** Marks accepted drift, and notes the entries that have expired or match nothing. */
export function accept(
  environment: string,
  section: Section,
  entries: readonly Accepted[],
  now: number,
): { section: Section; notes: string[] } {
  const used = new Set<Accepted>();
  const find = tolerating(environment, entries, now);
  const reasonFor = (thing: string, name: string | undefined): { accepted?: string } => {
    const found = find(thing, name);
    if (!found) return {};
    used.add(found);
    return { accepted: `${found.because} (until ${found.until})` };
  };
  const things = section.things.map((thing): Thing => ({
    ...thing,
    ...(thing.op === "remove" ? reasonFor(thing.name, undefined) : {}),
    changes: thing.changes.map((change) => ({ ...change, ...reasonFor(thing.name, change.name) })),
  }));
  const own = entries.filter((each) => each.environment === environment);
  const notes = own.flatMap((each) => {
    if (isOver(each, now))
      return [`${each.place}: accepted until ${each.until}, which is over: delete it, or renew it`];
    return used.has(each) ? [] : [`${each.place}: accepts what is not there any more: delete it`];
  });
  return { section: { ...section, things }, notes };
}

/** True if there is drift that nobody accepted. */
export const hasDrift = ({ things }: Section): boolean =>
  things.some(
    ({ op, accepted, changes, omitted }) =>
      (op === "remove" && accepted === undefined) ||
      omitted > 0 ||
      changes.some((change) => change.accepted === undefined),
  );

/** The text of drift.yaml with everything that is not accepted yet. */
export function withAccepted(
  text: string,
  found: readonly { environment: string; section: Section }[],
  because: string,
  until: string,
): string {
  const document: Document = parseDocument(text.trim() === "" ? "[]" : text);
  const { contents } = document;
  if (!isSeq(contents)) throw new Error(`${driftFile} must be a list`);
  contents.flow = false;
  for (const { environment, section } of found) {
    for (const { name: thing, op, accepted, changes } of section.things) {
      const names = changes.filter((change) => change.accepted === undefined).map(({ name }) => ({ name }));
      const own = op === "remove" && accepted === undefined && changes.length === 0 ? [{}] : names;
      for (const each of own) contents.add(document.createNode({ environment, thing, ...each, because, until }));
    }
  }
  for (const item of contents.items) if (isMap(item)) item.flow = false;
  return document.toString({ lineWidth: 0 });
}
