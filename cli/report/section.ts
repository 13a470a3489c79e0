import type { z } from "zod";
import type { PropertyMap } from "../../engine/decide.ts";
import type { RowData } from "../../platform/contract/values.ts";
import { isObject } from "../../platform/contract/wire.ts";
import { formatCount, some } from "../../platform/messages/text.ts";
import {
  describeRenaming,
  findRenamings,
  keyIn,
  type RenamedSide,
  type RowsLeft,
} from "../../provider/environment/leaving.ts";
import { withRowEdits } from "../../provider/environment/schema.ts";
import { type DeclaredThing, kinds as all, type Link, things, topName } from "../../provider/environment/things.ts";
import { planMembers, type PlanOptions, type Role } from "../../provider/people/people.ts";
import { describeNamed, readName, toPlannedUrn } from "../../provider/pulumi/names.ts";
import { keyOf } from "../../provider/seedRows/declaration.ts";
import { canonical, keyText, naturalKey } from "../../provider/seedRows/digests.ts";
import { decodeLedger } from "../../provider/seedRows/ledger.ts";
import { describeKept } from "../../provider/seedRows/otherSeeds.ts";
import type { RowsAhead } from "../../provider/seedRows/plan.ts";
import { read } from "../../provider/seedRows/source/read.ts";
import {
  copyValues,
  listLinkedLabels,
  placeOf,
  positionOf,
  type Source,
} from "../../provider/seedRows/source/source.ts";
import {
  type Change,
  type Field,
  fieldOf,
  fieldsOf,
  noTally,
  notCompared,
  type Note,
  orderChanges,
  orderThings,
  secretText,
  type Section,
  stable,
  type Tally,
  type Thing,
  toShownKind,
} from "./changeSet.ts";
import type { Declared } from "./environments.ts";
import {
  applied,
  type Before,
  isHeeded,
  isSealed,
  type Plan,
  type PlannedStep,
  planOf,
  resourceOf,
  toBefore,
} from "./planner.ts";
import type { StackState, WholeResource } from "./state.ts";

/** The declarations that a plan is about; a state has no base. */
interface Sides {
  base: Declared | undefined;
  head: Declared;
  /** True where contents are compared, whatever a run would do about them. */
  isOpen?: boolean;
}

/** A plan in the model of a report, and what is wrong with what is declared. */
interface Compared {
  section: Section;
  problems: Note[];
}

/** Changes between two declarations, from an environment that matches the earlier one, and problems of the later one. */
export async function compareDeclarations(sides: Sides & { base: Declared }): Promise<Compared> {
  const { base, head, isOpen = false } = sides;
  const before = await applied(base, isOpen);
  return sectionOf(await planOf(head, before, things(head.declaration, topName(before.root)), isOpen), sides);
}

/**
 * Plans an `up`: the state against the declaration. Offline, and no secret of the state is opened.
 * @param change what the reader looks at: that other rows can't be compared is not said in words
 */
export async function pending(
  { resources, interrupted }: StackState,
  declared: Declared,
  change?: Section,
): Promise<Section> {
  const roots = resources.filter(({ kind }) => kind === "Environment");
  const own = resources.filter(({ kind }) => (all as readonly string[]).includes(kind));
  if (roots.length > 1)
    return notCompared(`the state has ${roots.length} Environments, and nothing says which one this is`);
  if (roots.length === 0 && own.length > 0) {
    return notCompared("the state has no Environment: the program declares its resources itself");
  }
  const before = beforeOf(own, roots[0]);
  const plan = await planOf(declared, before, things(declared.declaration, topName(before.root)));
  const { section } = await sectionOf(plan, { base: undefined, head: declared }, change);
  if (interrupted === 0) return section;
  const what = interrupted === 1 ? "resource" : "resources";
  const begun = `a run was interrupted while it worked on ${interrupted} ${what}, which the next one looks at first`;
  return { ...section, why: [begun, section.why ?? []].flat().join("; ") };
}

/**
 * Things of a state below its Environment. Secrets of the state can't be read here: their values are taken to be the
 * declared ones, and rows whose digests are keyed by one are not compared.
 */
function beforeOf(resources: readonly WholeResource[], environment: WholeResource | undefined): Before {
  const root = environment?.name ?? "environment";
  const [stack = "", project = ""] = environment?.state.urn.slice("urn:pulumi:".length).split("::") ?? [];
  const below = resources.filter(({ name }) => name.startsWith(`${root}/`));
  const known = new Map<string, { why?: string }>();
  const state = below.map(({ kind, state }) => {
    const { why, ...read } = kind === "SeedRows" ? rowsIn(state.outputs) : { outputs: state.outputs };
    known.set(state.urn, why === undefined ? {} : { why });
    return { ...state, ...read };
  });
  return toBefore(state, known, { root, ...(environment && { stack, project }) });
}

/** The rows of a seed of a state. Where the salt of their digests is secret, nothing here knows what they say. */
function rowsIn(all: PropertyMap): { outputs: PropertyMap; why?: string } {
  const { ledger, salt = null, labels = [] } = all;
  // Labels of secret rows are a secret, too: which of them go is seen by the run.
  const outputs = { ...all, labels: isSealed(labels) ? [] : labels };
  const { ledger: _, ...unread } = outputs as PropertyMap;
  if (salt === null || isSealed(salt)) return { outputs: unread };
  try {
    decodeLedger(typeof ledger === "string" ? ledger : "");
    return { outputs };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { outputs: unread, why: error.message };
  }
}

async function sectionOf(plan: Plan, sides: Sides, change?: Section): Promise<Compared> {
  const shown: Shown[] = [];
  for (const step of plan) {
    const kind = toShownKind(step.kind);
    if (kind) shown.push(await show(kind, step, plan, sides));
  }
  const { notes, hints } = renamesIn(plan, sides.head);
  const things = shown.flatMap(({ step, thing }) =>
    thing ? { ...thing, notes: [...thing.notes, ...(notes.get(step) ?? [])] } : [],
  );
  const unread = shown.flatMap(({ step, isUnread }) => (isUnread ? step : []));
  const sealed = unread.filter(({ known }) => known?.why === undefined).map(({ name }) => name);
  const changed = change?.things.filter(
    ({ kind, op, rows }) => kind === "seed" && (op !== "change" || touched(rows) > 0),
  );
  const open = sealed.filter((seed) => !change?.compared || changed?.some(({ name }) => name === seed));
  const reasons = unread.flatMap(({ name, known }) => (known?.why === undefined ? [] : `${name}: ${known.why}`));
  if (open.length > 0)
    reasons.push(
      `only up can compare the rows of ${formatCount(open.length, "seed")}, which the state has encrypted: ${open.join(", ")}`,
    );
  const section: Section = {
    compared: true,
    ...(reasons.length === 0 ? {} : { why: reasons.join("; ") }),
    ...(sealed.length === 0 ? {} : { unread: sealed }),
    things: orderThings(things),
    ...(hints.length === 0 ? {} : { hints }),
  };
  return { section, problems: shown.flatMap(({ problems }) => problems.map((text) => ({ text }))) };
}

/** What a report has to say of a step. */
interface Shown {
  step: PlannedStep;
  /** Absent where nothing changes. */
  thing?: Thing;
  problems: string[];
  /** True if its rows are compared by a run alone. */
  isUnread: boolean;
}

const operations = { create: "add", update: "change", same: "change", replace: "replace", delete: "remove" } as const;

const touched = ({ add, change, remove }: Tally = noTally()): number => add + change + remove;

async function show(kind: Thing["kind"], step: PlannedStep, plan: Plan, sides: Sides): Promise<Shown> {
  const { thing, known, operation, name } = step;
  const people = kind === "team" ? peopleAhead(plan, step, sides) : undefined;
  const seed = kind === "seed" ? await rowsOf(step, sides) : undefined;
  // What a file says of a thing may be several resources.
  const parts = [step, ...(people?.steps ?? []), ...plan.filter((each) => isWaitOf(each, step))];
  const settings = parts.filter((part) => part.kind !== "TeamMember").flatMap((part) => settingsAhead(part, sides));
  const changes = orderChanges([...settings, ...(people?.changes ?? []), ...(seed?.changes ?? [])]);
  const guards = [...new Set([...parts.flatMap(({ refusals }) => refusals), ...(people?.guards ?? [])])];
  const formerly = sides.base && known && thing && known.name !== name ? known.name : undefined;
  const isGone = operation === "delete";
  const notes = [
    ...(formerly === undefined ? [] : [`the key was ${formerly}; it stays the same thing`]),
    ...(isGone && known?.isRetained ? ["retain is set: it stays on the platform, and is managed no more"] : []),
    ...(seed?.notes ?? []),
    ...(people?.notes ?? []),
    ...(isGone && kind === "app" ? ["the app stays on the platform: there is no way to delete one"] : []),
  ];
  const shown: Shown = {
    step,
    problems: parts.flatMap(({ problems }) => problems.flatMap((text) => text.split("\n"))),
    isUnread: seed?.isUnread ?? false,
  };
  const isEdited = operation === "same" || operation === "update";
  const count = changes.length + touched(seed?.tally) + touched(people?.tally) + guards.length + notes.length;
  if (isEdited && count === 0) return shown;
  const place = thing ? sides.head.place(thing.path) : ((known?.thing && sides.base?.place(known.thing.path)) ?? "");
  return {
    ...shown,
    thing: {
      ...{ kind, name, op: operations[operation] },
      ...(formerly === undefined ? {} : { formerly }),
      ...(place === "" ? {} : { place }),
      ...(people ? { people: people.tally } : {}),
      ...(seed?.tally ? { rows: seed.tally } : {}),
      ...{ changes, omitted: touched(seed?.tally) - (seed?.changes.length ?? 0), notes, guards },
    },
  };
}

/** True for the wait for an app, whose settings are the app's in a file. */
const isWaitOf = ({ kind, thing, known }: PlannedStep, app: PlannedStep): boolean =>
  kind === "AppReadiness" &&
  app.kind === "GeneratedApp" &&
  ((thing !== undefined && thing.above === app.thing?.key) ||
    (app.known !== undefined && known?.outputs["appID"] === app.known.id));

/** Coming changes of a seed's rows. */
interface SeedAhead {
  tally: Tally | undefined;
  changes: Change[];
  notes: string[];
  isUnread: boolean;
}

async function rowsOf(step: PlannedStep, sides: Sides): Promise<SeedAhead> {
  const { thing, known, rows, departing, operation } = step;
  const source = thing?.inputs["source"];
  const elsewhere = typeof source === "string" ? sides.head.unread?.(source) : undefined;
  const why = elsewhere ?? (known?.thing ? known.why : undefined);
  if (why !== undefined)
    return { tally: noTally(), changes: [], notes: [`rows not compared: ${why}`], isUnread: false };
  if (step.isUnread) {
    const count = thing ? undefined : known?.outputs["rowCount"];
    const notes =
      typeof count === "number" ? [`has ${formatCount(count, "row")}: up finds out which of them stay`] : [];
    return { tally: undefined, changes: [], notes, isUnread: true };
  }
  const tally = rows && tallyOf(rows, operation === "delete");
  if (departing?.plan.exact && tally) tally.remove += departing.plan.remove;
  const kept = [rows, departing].flatMap((ahead) => [...(ahead?.keptForOthers ?? [])]);
  const notes = [...stayNotes(step), ...rowNotes(rows), ...kept.map(([name, count]) => describeKept(name, count))];
  return { tally, changes: await listRows(step, sides), notes, isUnread: false };
}

/** Rows that another seed has, and that nothing is done to. */
const takenAsTheyAre = ({ plan }: RowsAhead): number =>
  plan.exact ? [...(plan.handed?.values() ?? [])].filter((isSame) => isSame).length : 0;

function tallyOf(rows: RowsAhead, isGone: boolean): Tally {
  const { plan } = rows;
  if (!plan.exact) return { ...noTally(), remove: isGone ? -plan.net : 0 };
  const same = takenAsTheyAre(rows);
  // Rows that another mode than exact keeps.
  const left = plan.update === 0 ? plan.change.changed.length : 0;
  return {
    add: plan.insert,
    change: plan.update + (plan.handed?.size ?? 0) - same,
    remove: plan.remove,
    same: plan.unchanged + left + same,
  };
}

function rowNotes(rows: RowsAhead | undefined): string[] {
  if (!rows) return [];
  if (!rows.plan.exact) {
    const { moreThan, net } = rows.plan;
    const sum = `${net >= 0 ? "+" : ""}${net} in all`;
    return moreThan === 0 ? [] : [`more than ${moreThan} rows are added, changed or removed, ${sum}`];
  }
  const same = takenAsTheyAre(rows);
  const [is, they] = same === 1 ? ["is", "it is"] : ["are", "they are"];
  return same === 0 ? [] : [`${formatCount(same, "row")} ${is} taken over from another seed as ${they}`];
}

/** Notes where rows stay as they are on the platform. */
function stayNotes({ thing, known, rows, inputs, operation }: PlannedStep): string[] {
  if (operation === "delete") {
    const stays = !known?.isRetained && known?.outputs["onDestroy"] === "retain";
    return stays ? ['onDestroy is "retain": the rows stay on the platform'] : [];
  }
  const { mode } = inputs;
  if (!thing || !known || !rows?.plan.exact || typeof mode !== "string") return [];
  const { removed, changed } = rows.plan.change;
  return [
    ...(mode !== "exact" && removed.length > 0
      ? [`mode is "${mode}": ${formatCount(removed.length, "row")} that left the source stay on the platform`]
      : []),
    ...(mode === "insertOnly" && changed.length > 0
      ? [`mode is "insertOnly": ${formatCount(changed.length, "row")} that are there are not changed`]
      : []),
  ];
}

/** Inputs whose changes are shown as rows or people, or that no file has. */
const otherwise = (
  "rows additions changes removals members until fields organizationID teamID appID removal " +
  "digest salt fingerprint keys resourceUrn unfinished drift"
).split(" ");

type Values = Readonly<Record<string, unknown>>;

/** Changes of a thing's settings, each at its place in the file. Of a state, what comes or goes has none. */
function settingsAhead(step: PlannedStep, sides: Sides): Change[] {
  const { thing, known, inputs, operation } = step;
  const { base, head } = sides;
  if (!base && (!thing || !known || operation === "create")) return [];
  const before = known?.thing;
  const links = { ...thing?.links, ...before?.links };
  const was = base ? written(base, before, links) : withoutNull(known?.outputs ?? {});
  const is = base ? written(head, thing, links) : withoutNull(inputs);
  const shape = base ? undefined : resourceOf(step.kind).inputs.shape;
  const names = base ? Object.keys({ ...thing?.inputs, ...before?.inputs, ...links }) : step.changed;
  const differing = names.filter(
    (name) => !otherwise.includes(name) && (shape ? name in shape : differs(step, name, sides)),
  );
  // Seeds that are referred to by their tables: another key of one is no change.
  return differing.flatMap((name) =>
    partsOf([name], was[name], is[name]).map(({ steps, ...values }): Change => {
      const isSecret = shape !== undefined && (known?.sealed?.includes(name) ?? false);
      const own = steps.join(".");
      const field = fieldOf(own, values.before, values.after, isSecret);
      const op = shape
        ? "change"
        : field.after === undefined
          ? "remove"
          : field.before === undefined
            ? "add"
            : "change";
      const [side, path] = op === "remove" ? [base, before?.path] : [head, thing?.path];
      const place = side?.place([...(path ?? []), ...steps]);
      const shown = isSecret ? { ...field, before: secretText, after: secretText } : field;
      return { kind: "setting", op, name: own, fields: [shown], ...(place === undefined ? {} : { place }) };
    }),
  );
}

const withoutNull = (values: Values): Values =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));

/** The settings of a thing; its links as the file has them. */
function written(declared: Declared, thing: DeclaredThing | undefined, links: object): Values {
  let entry: unknown = thing && declared.declaration;
  for (const step of thing?.path ?? []) entry = (entry as Values | undefined)?.[step];
  const own = Object.entries(isObject(entry) ? entry : {}).filter(([name]) => name in links);
  return { ...Object.fromEntries(own), ...thing?.inputs };
}

/** A part of a setting that differs. */
interface SettingPart {
  steps: readonly string[];
  before: unknown;
  after: unknown;
}

/** The requirements of `expect` that differ, each by itself: as one value they would be cut. */
function partsOf(steps: readonly string[], before: unknown, after: unknown): SettingPart[] {
  if (steps[0] !== "expect" || !isObject(before) || !isObject(after)) return [{ steps, before, after }];
  return Object.keys({ ...before, ...after }).flatMap((name) =>
    stable(before[name]) === stable(after[name]) ? [] : partsOf([...steps, name], before[name], after[name]),
  );
}

/** True when a setting changes in a file, and a run acts on that. */
function differs(step: PlannedStep, name: string, { isOpen = false }: Sides): boolean {
  const { thing, known, kind, operation } = step;
  const before = known?.thing;
  const [was, is] = [before?.inputs[name], thing?.inputs[name]];
  const isLink = name in { ...thing?.links, ...before?.links };
  if (thing && known && operation !== "create") {
    const isOther = isLink
      ? step.changed.includes(name) || !isSameLink(thing.links[name], before?.links[name])
      : stable(was) !== stable(is);
    return isOther && (isOpen || isHeeded(step, name));
  }
  return isLink || (stable(was) !== stable(is) && stable(was ?? is) !== defaultOf(kind, name));
}

const isSameLink = (one: readonly Link[] = [], other: readonly Link[] = []): boolean => stable(one) === stable(other);

/** The value of a setting that nobody declares: of a thing that comes or goes it is no news; a roster is shown by its settings alone. */
function defaultOf(kind: string, name: string): string | undefined {
  if (toShownKind(kind) === undefined) return undefined;
  const schema: unknown = resourceOf(kind).inputs.shape[name];
  const parsed = (schema as z.ZodType | undefined)?.safeParse(undefined); // the values of a zod shape are schemas
  return parsed?.success && parsed.data !== undefined ? stable(parsed.data) : undefined;
}

/** Notes at the things of a plan, and each hint once. */
interface Renames {
  notes: ReadonlyMap<PlannedStep, string[]>;
  hints: string[];
}

interface OfStep extends RenamedSide {
  step: PlannedStep;
}

/** Things that leave beside one that came and may be the same: what to say so that it stays what it is. */
function renamesIn(plan: Plan, head: Declared): Renames {
  const notes = new Map<PlannedStep, string[]>();
  const sidesOf = (operation: PlannedStep["operation"]): OfStep[] =>
    plan
      .filter((step) => step.operation === operation)
      .map((step) => {
        const { kind, name, thing, known, inputs } = step;
        const left = { ...known?.thing?.inputs, ...known?.outputs };
        return { step, kind, name, values: thing ? { ...thing.inputs, ...inputs } : left };
      });
  const hints = findRenamings(sidesOf("delete"), sidesOf("create"), rowsLeft).map((renaming) => {
    const { left, came } = renaming;
    const path = came.step.thing?.path ?? [];
    const [entry, place] = [path.join("."), head.place(path)];
    // Without the place, which the other thing has: equal changes of several environments are shown once.
    notes.set(left.step, [describeRenaming(renaming, entry)]);
    notes.set(came.step, [`perhaps ${keyIn(left.name)} renamed: say "formerly: ${keyIn(left.name)}" here`]);
    return describeRenaming(renaming, place === "" ? entry : `${entry} (${place})`);
  });
  return { notes, hints };
}

/** Rows of a seed that leaves, as its plan has them. */
function rowsLeft({ step: { rows, isUnread } }: OfStep, { kind, name }: OfStep): RowsLeft | undefined {
  if (isUnread || !rows?.plan.exact) return undefined;
  const called = describeNamed(readName(toPlannedUrn(kind, name)));
  return { stay: rows.keptForOthers.get(called) ?? 0, go: rows.plan.remove };
}

/** Coming changes of a team's people. */
interface PeopleAhead {
  changes: Change[];
  tally: Tally;
  guards: string[];
  notes: string[];
  /** Steps of the team's people, whose settings and refusals are the team's. */
  steps: readonly PlannedStep[];
}

/** The declarations in which people have their places; a state has no base. */
interface PlacedSides {
  base: Pick<Declared, "place"> | undefined;
  head: Pick<Declared, "place">;
}

interface Person {
  email: string;
  settings: Values;
  path: readonly string[];
  step: PlannedStep;
}

/** The people of a team on both sides, one by one, whether they stand in its members or in its roster. */
function peopleAhead(plan: Plan, team: PlannedStep, sides: PlacedSides): PeopleAhead {
  const isBelow = ({ thing, known }: PlannedStep): boolean =>
    (team.thing !== undefined && thing?.above === team.thing.key) ||
    (team.known !== undefined &&
      known !== undefined &&
      (known.outputs["teamID"] === team.known.id || known.name.startsWith(`${team.known.name}/`)));
  const steps = plan.filter((step) => isOfPeople(step) && isBelow(step));
  return comparePeople(steps, sides, team.operation === "create");
}

/** True for the step of a person or a roster. */
export const isOfPeople = ({ kind }: PlannedStep): boolean => kind === "TeamMember" || kind === "TeamRoster";

/** Compares the people of one team on both sides. */
export function comparePeople(steps: readonly PlannedStep[], sides: PlacedSides, isNew: boolean): PeopleAhead {
  const byAddress = (people: Person[]): Map<string, Person> =>
    new Map(people.map((one) => [one.email.toLowerCase(), one]));
  const [known, wanted] = [byAddress(steps.flatMap(knownPeople)), byAddress(steps.flatMap(wantedPeople))];
  const tally = noTally();
  const changes: Change[] = [];
  const add = (op: Change["op"], { email, path }: Person, fields: Change["fields"]): void => {
    tally[op]++;
    const side = op === "remove" ? sides.base : sides.head;
    changes.push({ kind: "person", op, name: email, fields, ...(side ? { place: side.place(path) } : {}) });
  };
  const roster = steps.find(({ kind, thing }) => thing && kind === "TeamRoster");
  const ahead = roster && rosterAhead(roster, [...known.values()]);
  const retained: string[] = [];
  for (const [key, person] of known) {
    const { step, settings } = person;
    if (wanted.has(key)) continue;
    if (step.operation === "delete" && step.known?.isRetained) retained.push(person.email);
    // A roster that goes on takes out nobody but whom its plan names.
    else if (step !== roster || ahead?.removed.has(key))
      add("remove", person, fieldsOf({ role: settings["role"] }, {}));
  }
  for (const [key, person] of wanted) {
    const former = isNew ? undefined : known.get(key);
    const fields = former ? changedOf(former, person) : fieldsOf({}, person.settings);
    if (!former) add("add", person, fields);
    else if (fields.length > 0) add("change", person, fields);
    else tally.same++;
  }
  const stay = retained.length === 1 ? "stays a member" : "stay members";
  const notes = retained.length === 0 ? [] : [`${some(retained, 5)} ${stay}: retain is set`];
  return { changes, tally, guards: roster?.operation === "create" ? (ahead?.refusals ?? []) : [], notes, steps };
}

/** Changes of a person's settings. A setting that has left the file keeps its value. */
function changedOf(former: Person, { settings, step }: Person): Change["fields"] {
  const isSame = step === former.step && step.kind === "TeamMember";
  const own = Object.keys(settings).filter((name) => (isSame ? isHeeded(step, name) : name === "role"));
  return [...new Set([...own, "until"])].flatMap((name) => {
    const [was, is] = [former.settings[name], settings[name]];
    // An end that leaves the file leaves the person.
    const isKept = name !== "until" && (is === undefined || (!isSame && was === undefined));
    return isKept || JSON.stringify(was) === JSON.stringify(is) ? [] : [fieldOf(name, was, is)];
  });
}

const own = ["teamID", "email", "removal", "resourceUrn", "memberUserID", "platform", "ended"];

/** The settings of a member, with the app that the invitation opens as the file has it. */
function settingsOf(values: Values, thing?: DeclaredThing): Values {
  const settings = Object.entries(values).filter(([name, value]) => !own.includes(name) && (value ?? null) !== null);
  const [target] = thing?.links["targetInitialApp"] ?? [];
  const app = target && (target.of === undefined ? target.id : { app: target.of.slice("GeneratedApp ".length) });
  return { ...Object.fromEntries(settings), ...(app === undefined ? {} : { targetInitialApp: app }) };
}

/** Somebody's address, or what else a program knows them by. */
const addressOf = ({ email, userID }: Values, { name }: PlannedStep): string =>
  [email, userID].find((one) => typeof one === "string") ?? name.slice(name.lastIndexOf("/") + 1);

function wantedPeople(step: PlannedStep): Person[] {
  const { kind, thing, inputs, problems } = step;
  if (!thing || inputs["ended"] === true) return [];
  const { path } = thing;
  if (kind === "TeamMember")
    return [{ email: addressOf(thing.inputs, step), settings: settingsOf(thing.inputs, thing), path, step }];
  const isSettled = isObject(inputs["members"]) && problems.length === 0;
  return membersIn({ ...thing.inputs, ...(isSettled ? { members: inputs["members"] } : {}) }, path, step);
}

function knownPeople(step: PlannedStep): Person[] {
  const { kind, known } = step;
  if (!known || known.outputs["ended"] === true) return [];
  const { path = [], inputs = known.outputs } = known.thing ?? {};
  if (kind === "TeamRoster") return membersIn(known.outputs, path, step);
  return [{ email: addressOf(known.outputs, step), settings: settingsOf(inputs, known.thing), path, step }];
}

const membersIn = ({ members, until }: Values, path: readonly string[], step: PlannedStep): Person[] =>
  Object.entries(isObject(members) ? members : {}).map(([email, role]) => ({
    email,
    settings: {
      ...(role === undefined ? {} : { role }),
      ...(isObject(until) && until[email] !== undefined ? { until: until[email] } : {}),
    },
    path: [...path, "members", email],
    step,
  }));

const roleOf = (role: unknown): Role | undefined => (role === "admin" || role === "member" ? role : undefined);

/** Effects of a roster on the present people of a team. */
function rosterAhead({ inputs }: PlannedStep, known: readonly Person[]) {
  const members = isObject(inputs["members"]) ? inputs["members"] : {};
  const wanted = Object.entries(members).map(([email, role]) => ({ email, role: roleOf(role) }));
  const live = known.map(({ email, settings }) => ({ userID: email, email, role: roleOf(settings["role"]) }));
  const options = { ...(inputs as unknown as PlanOptions), owned: live, keepSelf: undefined }; // it was checked
  const { remove, refusals } = planMembers(wanted, live, options);
  return { removed: new Set(remove.map(({ userID }) => userID.toLowerCase())), refusals };
}

/** Rows of each kind that are listed of one seed; all are counted. */
const maxListed = 10_000;

/** The verbs by which a file edits the rows of a source. */
const verbs = { additions: "rows+", changes: "rows~", removals: "rows-" } as const;

/** A row as one side has it, and where it stands there. */
interface PlacedRow {
  values: RowData;
  place: string;
}

/** The rows of a seed as one side has them. */
class Side {
  readonly seed: Source & { key: string[] };
  readonly #declared: Declared;
  readonly #name: string;

  constructor(declared: Declared, name: string, seed: Declared["declaration"]["seeds"][string]) {
    [this.#declared, this.#name, this.seed] = [declared, name, withRowEdits(seed)];
  }

  static of(declared: Declared | undefined, name = ""): Side | undefined {
    const seed = declared?.declaration.seeds[name];
    return declared && seed && new Side(declared, name, seed);
  }

  /** Shows each row with its index. */
  async each(see: (index: number, row: RowData, line: number) => void): Promise<void> {
    let index = 0;
    for await (const block of read(this.seed, this.#declared.folder))
      for (const { values, line } of block) see(index++, values, line);
  }

  place(line: number): string {
    const { seed } = this;
    const edit = positionOf(line);
    if (!edit && seed.source !== undefined) return placeOf(seed, line);
    const where = edit ? [verbs[edit.list], edit.index] : ["rows", line - 1];
    return this.#declared.place(["seeds", this.#name, ...where]);
  }
}

/** Lists the rows that a plan adds, changes and removes, with what they say where both sources are at hand. */
async function listRows(
  { thing, known, rows, inputs, operation }: PlannedStep,
  sides: { base: Declared | undefined; head: Declared },
): Promise<Change[]> {
  const plan = rows?.plan;
  if (!plan?.exact || !known || !thing || operation === "replace") return [];
  const head = Side.of(sides.head, thing.path[1]);
  const base = Side.of(sides.base, known.thing?.path[1]);
  if (!head || head.seed.sensitive || base?.seed.sensitive) return [];
  const changes: Change[] = [];
  const list = listing(head.seed, base?.seed, [inputs, known.outputs], changes);
  // The state's rows are known by the key that they had.
  const keyIn = (values: RowData): string | undefined => base && naturalKey(known.outputs["key"] as string[], values);
  /** Rows of the head that change, by the key of the row that they were. */
  const changed = new Map<string, PlacedRow>();
  if (plan.insert + plan.update + (plan.handed?.size ?? 0) > 0) {
    const { added } = plan.change;
    const changing = new Set(plan.update > 0 ? plan.change.changed.slice(0, maxListed) : []);
    let listed = 0;
    await head.each((index, values, line) => {
      const isAdded = added.has(index);
      const isHanded = plan.handed?.get(index) === false;
      if (isAdded && (plan.insert === 0 || listed++ >= maxListed)) return;
      if (!isAdded && !isHanded && !changing.has(index)) return;
      const row = { values, place: head.place(line) };
      const former = isAdded || isHanded ? undefined : keyIn(values);
      if (isAdded) list("add", row, {}, base ? values : {});
      else if (former === undefined) list("change", row, {}, {});
      else changed.set(former, { ...row, values: { ...values } });
    });
  }
  const decoded = plan.remove > 0 ? decodeLedger(String(known.outputs["ledger"])) : undefined;
  const ledger = decoded?.kind === "list" ? decoded.rows : undefined;
  const gone = ledger ? plan.change.removed.slice(0, maxListed) : [];
  const removed = new Set(gone.flatMap(({ key }) => ledger?.find(key) ?? []));
  if (!base) {
    // A state may have natural keys alone.
    const { keys } = { ...known.inputs, ...known.outputs };
    const names = Array.isArray(keys) ? keys.map(String) : [];
    for (const name of [...removed].flatMap((at) => names[at] ?? []))
      changes.push({ kind: "row", op: "remove", name, fields: [] });
  } else if (removed.size + changed.size > 0) {
    await base.each((index, values, line) => {
      const row = changed.get(keyIn(values) ?? "");
      if (row) list("change", row, values, row.values);
      else if (removed.has(index)) list("remove", { values, place: base.place(line) }, values, {}, base.seed.key);
    });
  }
  return orderChanges(changes);
}

/** A value as JSON has it; of a row, null is nothing. */
const kept = (value: unknown): unknown =>
  (typeof value === "object" && value !== null ? copyValues({ value })["value"] : value) ?? undefined;

/** Adds changes of rows to a list, with the cells that differ. */
function listing(
  head: Source & { key: string[] },
  base: Source | undefined,
  linking: readonly Parameters<typeof listLinkedLabels>[0][],
  into: Change[],
) {
  const secret = new Set([...(head.secretLabels ?? []), ...(base?.secretLabels ?? [])]);
  const linked = new Set(linking.flatMap(listLinkedLabels));
  /** A value as its digest takes it. */
  const form = (label: string, value: unknown) => (linked.has(label) ? keyText(value) : canonical(value));
  return (
    op: Change["op"],
    { values, place }: PlacedRow,
    before: RowData,
    after: RowData,
    key: readonly string[] = head.key,
  ): void => {
    const fields = Object.keys({ ...after, ...before }).flatMap((label): Field[] => {
      const [was, is] = [before[label], after[label]];
      if (was === is || form(label, was) === form(label, is)) return [];
      return [fieldOf(label, kept(was), kept(is), secret.has(label))];
    });
    const name = key.some((label) => secret.has(label)) ? secretText : String(kept(keyOf(key, values)));
    into.push({ kind: "row", op, name, fields, place });
  };
}
