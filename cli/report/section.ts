import type { z } from "zod";
import type { PropertyMap } from "../../engine/decide.ts";
import { isObject } from "../../platform/contract/wire.ts";
import { formatCount } from "../../platform/messages/text.ts";
import {
  describeRenaming,
  findRenamings,
  keyIn,
  type RenamedSide,
  type RowsLeft,
} from "../../provider/environment/leaving.ts";
import { topName, kinds as all, type Link, things } from "../../provider/environment/things.ts";
import { describeNamed, readName, toPlannedUrn } from "../../provider/resources/model/identities.ts";
import { decodeLedger } from "../../provider/seedRows/ledger.ts";
import { describeKept } from "../../provider/seedRows/otherSeeds.ts";
import type { RowsAhead } from "../../provider/seedRows/plan.ts";
import {
  type Change,
  fieldOf,
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
import { peopleAhead } from "./people.ts";
import {
  applied,
  isHeeded,
  isSealed,
  type Plan,
  type PlannedStep,
  planOf,
  resourceOf,
  toBefore,
  type Before,
  type KnownThing,
} from "./planner.ts";
import { listRows } from "./rowValues.ts";
import type { Declared } from "./source.ts";
import type { StackState, WholeResource } from "./state.ts";

/** The declarations that a plan is about; a state has no base. */
interface Sides {
  base: Declared | undefined;
  head: Declared;
}

/** A plan in the model of a report, and what is wrong with what is declared. */
async function sectionOf(plan: Plan, sides: Sides): Promise<{ section: Section; problems: Note[] }> {
  const things: Thing[] = [];
  const problems: Note[] = [];
  const open: string[] = [];
  const reasons: string[] = [];
  const renames = renamesIn(plan, sides.head);
  for (const step of plan) {
    const kind = toShownKind(step.thing?.kind ?? step.known?.kind ?? "");
    if (!kind) continue;
    const made = await thingOf(kind, step, plan, sides);
    problems.push(...made.problems.map((text) => ({ text })));
    if (made.unread && step.known?.why !== undefined) reasons.push(`${nameOf(step)}: ${step.known.why}`);
    else if (made.unread) open.push(nameOf(step));
    const renamed = renames.notes.get(step) ?? [];
    if (made.thing) things.push({ ...made.thing, notes: [...made.thing.notes, ...renamed] });
  }
  if (open.length > 0)
    reasons.push(`rows of ${formatCount(open.length, "seed")} are compared when up runs: ${open.join(", ")}`);
  const why = reasons.length === 0 ? {} : { why: reasons.join("; ") };
  const hints = renames.hints.length === 0 ? {} : { hints: renames.hints };
  return { section: { compared: true, ...why, things: orderThings(things), ...hints }, problems };
}

const nameOf = ({ thing, known }: PlannedStep): string => {
  const key = thing?.key ?? known?.key ?? "";
  return key.slice(key.indexOf(" ") + 1);
};

const operations = { create: "add", update: "change", same: "change", replace: "replace", delete: "remove" } as const;

interface Made {
  thing?: Thing;
  problems: string[];
  /** True if its rows are compared by a run alone. */
  unread: boolean;
}

async function thingOf(kind: Thing["kind"], step: PlannedStep, plan: Plan, sides: Sides): Promise<Made> {
  const { thing, known, operation } = step;
  const name = nameOf(step);
  const people = kind === "team" ? peopleAhead(plan, step, sides) : undefined;
  const more = [
    ...(people?.steps.filter(({ thing, known }) => [thing?.kind, known?.kind].includes("TeamRoster")) ?? []),
    ...waitOf(plan, step),
  ];
  const isEdited = operation !== "create" && operation !== "delete";
  const settings = [step, ...(isEdited || sides.base ? more : [])].flatMap((each) => settingsAhead(each, sides));
  const seed = kind === "seed" ? await rowsOf(step, sides) : undefined;
  const formerly = sides.base && known && thing && known.name !== name ? known.name : undefined;
  const problems = [step, ...(people?.steps ?? []), ...more].flatMap(({ problems }) =>
    problems.flatMap((text) => text.split("\n")),
  );
  const guards = [
    ...new Set(
      [step, ...(people?.steps ?? []), ...more].flatMap(({ refusals }) => refusals).concat(people?.guards ?? []),
    ),
  ];
  const changes = orderChanges([...settings, ...(people?.changes ?? []), ...(seed?.changes ?? [])]);
  const touched = (tally: Tally | undefined): number => (tally ? tally.add + tally.change + tally.remove : 0);
  const isTouched =
    (operation !== "same" && operation !== "update") ||
    changes.length > 0 ||
    formerly !== undefined ||
    touched(seed?.tally) + touched(people?.tally) + guards.length > 0 ||
    (seed?.notes.length ?? 0) + (people?.notes.length ?? 0) > 0;
  const unread = seed?.unread ?? false;
  if (!isTouched) return { problems, unread };
  const place = placeOf(step, sides);
  return {
    problems,
    unread,
    thing: {
      kind,
      name,
      op: operations[operation],
      ...(formerly === undefined ? {} : { formerly }),
      ...(place === "" ? {} : { place }),
      ...(people ? { people: people.tally } : {}),
      ...(seed?.tally ? { rows: seed.tally } : {}),
      changes,
      omitted: touched(seed?.tally) - (seed?.changes.length ?? 0),
      notes: [
        ...(formerly === undefined ? [] : [`the key was ${formerly}; it stays the same thing`]),
        ...(operation === "delete" && known?.isRetained
          ? ["retain is set: it stays on the platform, and is managed no more"]
          : []),
        ...(seed?.notes ?? []),
        ...(people?.notes ?? []),
        ...(kind === "app" && operation === "delete"
          ? ["the app stays on the platform: there is no way to delete one"]
          : []),
      ],
      guards,
    },
  };
}

const placeOf = ({ thing, known }: PlannedStep, { base, head }: Sides): string =>
  thing ? head.place(thing.path) : ((known?.thing && base?.place(known.thing.path)) ?? "");

/** The wait for an app, whose settings are the app's in a file. */
const waitOf = (steps: Plan, { thing, known }: PlannedStep): PlannedStep[] =>
  steps.filter(
    (each) =>
      (thing !== undefined && each.thing?.kind === "AppReadiness" && each.thing.above === thing.key) ||
      (known?.kind === "GeneratedApp" &&
        each.known?.kind === "AppReadiness" &&
        each.known.outputs["appID"] === known.id),
  );

interface SeedRowsAhead {
  tally: Tally | undefined;
  changes: Change[];
  notes: string[];
  unread: boolean;
}

async function rowsOf(step: PlannedStep, sides: Sides): Promise<SeedRowsAhead> {
  const { thing, known, rows, departing, operation } = step;
  const source = thing?.inputs["source"];
  const elsewhere = typeof source === "string" ? sides.head.unread?.(source) : undefined;
  const why = elsewhere ?? (known?.thing ? known.why : undefined);
  if (why !== undefined) return { tally: noTally(), changes: [], notes: [`rows not compared: ${why}`], unread: false };
  if (step.isUnread) {
    const rowCount = known?.outputs["rowCount"];
    const notes =
      thing || typeof rowCount !== "number"
        ? []
        : [`has ${formatCount(rowCount, "row")}: up finds out which of them stay`];
    return { tally: undefined, changes: [], notes, unread: true };
  }
  const tally = tallyOf(rows, operation);
  if (departing?.plan.exact && tally) tally.remove += departing.plan.remove;
  const notes = [
    ...modeNotes(step),
    ...takenNotes(rows),
    ...sparedNotes(rows),
    ...sparedNotes(departing),
    ...vagueNotes(rows),
  ];
  return { tally, changes: await listRows(step, sides), notes, unread: false };
}

function tallyOf(rows: RowsAhead | undefined, operation: PlannedStep["operation"]): Tally | undefined {
  if (!rows) return undefined;
  const { plan } = rows;
  if (!plan.exact) return operation === "delete" ? { ...noTally(), remove: -plan.net } : noTally();
  const handed = [...(plan.handed?.values() ?? [])];
  const same = handed.filter((isSame) => isSame).length;
  // Rows that another mode than exact keeps.
  const left = plan.update === 0 ? plan.change.changed.length : 0;
  return {
    add: plan.insert,
    change: plan.update + handed.length - same,
    remove: plan.remove,
    same: plan.unchanged + left + same,
  };
}

const sparedNotes = (rows: RowsAhead | undefined): string[] =>
  [...(rows?.keptForOthers ?? [])].map(([name, count]) => describeKept(name, count));

/** Rows that another seed has, and that nothing is done to. */
function takenNotes(rows: RowsAhead | undefined): string[] {
  const handed = rows?.plan.exact ? [...(rows.plan.handed?.values() ?? [])] : [];
  const same = handed.filter((isSame) => isSame).length;
  return same === 0
    ? []
    : [
        `${formatCount(same, "row")} ${same === 1 ? "is" : "are"} taken over from another seed as ${same === 1 ? "it is" : "they are"}`,
      ];
}

function vagueNotes(rows: RowsAhead | undefined): string[] {
  if (!rows || rows.plan.exact) return [];
  const { moreThan, net } = rows.plan;
  return moreThan === 0
    ? []
    : [`more than ${moreThan} rows are added, changed or removed, ${net >= 0 ? "+" : ""}${net} in all`];
}

/** Notes where rows stay as they are on the platform. */
function modeNotes({ thing, known, rows, operation }: PlannedStep): string[] {
  if (operation === "delete" && known?.isRetained) return [];
  if (operation === "delete")
    return known?.outputs["onDestroy"] === "retain" ? ['onDestroy is "retain": the rows stay on the platform'] : [];
  const plan = rows?.plan;
  const mode = thing?.inputs["mode"];
  if (!plan?.exact || typeof mode !== "string" || !known) return [];
  const { removed, changed } = plan.change;
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

/** Changes of a thing's settings, each at its place in the file. */
function settingsAhead(step: PlannedStep, sides: { base: Declared | undefined; head: Declared }): Change[] {
  const { thing, known, operation } = step;
  if (operation === "delete" && !sides.base) return [];
  if (operation === "create" && !sides.base) return [];
  return known && !known.thing ? ofState(step, sides.head) : thing || known ? ofFiles(step, sides) : [];
}

/** The entry of a file at a path. */
function entryAt(declared: Declared | undefined, path: readonly string[] | undefined): Values {
  let value: unknown = path && declared?.declaration;
  for (const step of path ?? []) value = (value as Values | undefined)?.[step];
  return typeof value === "object" && value !== null
    ? (value as Values)
    : typeof value === "string"
      ? { role: value }
      : {};
}

function ofFiles(step: PlannedStep, { base, head }: { base: Declared | undefined; head: Declared }): Change[] {
  const { thing, known } = step;
  const [was, is] = [known?.thing?.inputs ?? {}, thing?.inputs ?? {}];
  const [before, after] = [entryAt(base, known?.thing?.path), entryAt(head, thing?.path)];
  const links = Object.keys({ ...thing?.links, ...known?.thing?.links });
  const names = [...new Set([...Object.keys(is), ...Object.keys(was), ...links])].filter(
    (name) => !otherwise.includes(name),
  );
  return names.flatMap((name): Change[] => {
    if (!differs(step, name, was[name], is[name])) return [];
    // Seeds that are referred to by their tables: another key of one is no change.
    const parts = partsOf([name], was[name] ?? before[name], is[name] ?? after[name]);
    return parts.map(({ steps, ...values }): Change => {
      const own = steps.join(".");
      const field = fieldOf(own, values.before, values.after);
      const op = field.after === undefined ? "remove" : field.before === undefined ? "add" : "change";
      const place =
        op === "remove"
          ? base?.place([...(known?.thing?.path ?? []), ...steps])
          : head.place([...(thing?.path ?? []), ...steps]);
      return { kind: "setting", op, name: own, fields: [field], ...(place === undefined ? {} : { place }) };
    });
  });
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
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.flatMap((name) =>
    stable(before[name]) === stable(after[name]) ? [] : partsOf([...steps, name], before[name], after[name]),
  );
}

/** True when a setting changes in a file, and a run acts on that. */
function differs(step: PlannedStep, name: string, was: unknown, is: unknown): boolean {
  const { thing, known, operation } = step;
  if (thing && known && operation !== "create") {
    if (name in thing.links || (known.thing && name in known.thing.links))
      return (
        step.changed.includes(name) ||
        (isHeeded(step, name) && !isSameLink(thing.links[name], known.thing?.links[name]))
      );
    if (stable(was) === stable(is)) return false;
    return isHeeded(step, name);
  }
  if (name in { ...thing?.links, ...known?.thing?.links }) return true;
  return stable(was) !== stable(is) && stable(was ?? is) !== defaultOf(step, name);
}

/** The value of a setting that nobody declares: of a thing that comes or goes it is no news; a roster is shown by its settings alone. */
function defaultOf({ thing, known }: PlannedStep, name: string): string | undefined {
  const kind = thing?.kind ?? known?.kind ?? "";
  if (toShownKind(kind) === undefined) return undefined;
  const schema: unknown = resourceOf(kind).inputs.shape[name];
  const parsed = (schema as z.ZodType | undefined)?.safeParse(undefined); // the values of a zod shape are schemas
  return parsed?.success && parsed.data !== undefined ? stable(parsed.data) : undefined;
}

function ofState({ thing, known, changed, inputs }: PlannedStep, head: Declared): Change[] {
  if (!thing || !known) return [];
  const { shape } = resourceOf(thing.kind).inputs;
  return changed.flatMap((name): Change[] => {
    if (otherwise.includes(name) || !(name in shape)) return [];
    const isSecret = known.sealed?.includes(name) ?? false;
    const parts = partsOf([name], known.outputs[name] ?? undefined, inputs[name] ?? undefined);
    return parts.map(({ steps, before, after }): Change => {
      const own = steps.join(".");
      const field = fieldOf(own, before, after, isSecret);
      return {
        kind: "setting",
        op: "change",
        name: own,
        fields: [isSecret ? { ...field, before: secretText, after: secretText } : field],
        place: head.place([...thing.path, ...steps]),
      };
    });
  });
}

const isSameLink = (one: readonly Link[] = [], other: readonly Link[] = []): boolean => stable(one) === stable(other);

/** Notes at the things of a plan, and each hint once. */
interface Renames {
  notes: ReadonlyMap<PlannedStep, string[]>;
  hints: string[];
}

interface OfStep extends RenamedSide {
  step: PlannedStep;
}

/** Things that leave beside one that came and may be the same: what to say so that it stays what it is. */
function renamesIn(steps: Plan, head: Declared): Renames {
  const notes = new Map<PlannedStep, string[]>();
  const hints: string[] = [];
  const sidesOf = (operation: PlannedStep["operation"]): OfStep[] =>
    steps.filter((step) => step.operation === operation).flatMap((step) => sideOf(step) ?? []);
  for (const renaming of findRenamings(sidesOf("delete"), sidesOf("create"), rowsLeft)) {
    const { left, came } = renaming;
    const path = came.step.thing?.path ?? [];
    const place = head.place(path);
    const entry = path.join(".");
    hints.push(describeRenaming(renaming, place === "" ? entry : `${entry} (${place})`));
    // Without the place, which the other thing has: equal changes of several environments are shown once.
    notes.set(left.step, [describeRenaming(renaming, entry)]);
    notes.set(came.step, [`perhaps ${keyIn(left.name)} renamed: say "formerly: ${keyIn(left.name)}" here`]);
  }
  return { notes, hints };
}

function sideOf(step: PlannedStep): OfStep | undefined {
  const { known, thing, inputs, operation } = step;
  if (operation === "delete")
    return known && { step, kind: known.kind, name: known.name, values: { ...known.thing?.inputs, ...known.outputs } };
  return thing && { step, kind: thing.kind, name: nameOf(step), values: { ...thing.inputs, ...inputs } };
}

/** Rows of a seed that leaves, as its plan has them. */
function rowsLeft({ step: { rows, isUnread } }: OfStep, { kind, name }: OfStep): RowsLeft | undefined {
  if (isUnread) return undefined;
  const called = describeNamed(readName(toPlannedUrn(kind, name)));
  return rows?.plan.exact ? { stay: rows.keptForOthers.get(called) ?? 0, go: rows.plan.remove } : undefined;
}

const kinds: readonly string[] = all;

/** Changes between two declarations, from an environment that matches the earlier one, and problems of the later one. */
export async function compareDeclarations(both: {
  base: Declared;
  head: Declared;
}): Promise<{ section: Section; problems: Note[] }> {
  const { base, head } = both;
  const before = await applied(base);
  return sectionOf(await planOf(head, before, things(head.declaration, topName(before.root))), both);
}

/** Plans an `up`: the state against the declaration. Offline, and no secret of the state is opened. */
export async function pending(state: StackState, declared: Declared): Promise<Section> {
  const roots = state.resources.filter(({ kind }) => kind === "Environment");
  const own = state.resources.filter(({ kind }) => kinds.includes(kind));
  if (roots.length > 1)
    return notCompared(`the state has ${roots.length} Environments, and nothing says which one this is`);
  if (roots.length === 0 && own.length > 0) {
    return notCompared("the state has no Environment: the program declares its resources itself");
  }
  const before = beforeOf(own, roots[0]);
  const plan = await planOf(declared, before, things(declared.declaration, topName(before.root)));
  const { section } = await sectionOf(plan, { base: undefined, head: declared });
  if (state.interrupted === 0) return section;
  return { ...section, why: [interrupted(state.interrupted), section.why ?? []].flat().join("; ") };
}

/**
 * Things of a state below its Environment. Secrets of the state can't be read here: their values are taken to be the
 * declared ones, and rows whose digests are keyed by one are not compared.
 */
function beforeOf(resources: readonly WholeResource[], environment: WholeResource | undefined): Before {
  const root = environment?.name ?? "environment";
  const [stack = "", project = ""] = environment?.state.urn.slice("urn:pulumi:".length).split("::") ?? [];
  const below = resources.filter(({ name }) => name.startsWith(`${root}/`));
  const known = new Map<string, Pick<KnownThing, "why">>();
  const state = below.map(({ kind, state }) => {
    const { outputs, why } = kind === "SeedRows" ? rowsIn(state.outputs) : { ...state, why: undefined };
    known.set(state.urn, { ...(why !== undefined && { why }) });
    return { ...state, outputs };
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

const interrupted = (count: number): string =>
  `a run was interrupted while it worked on ${count} ${count === 1 ? "resource" : "resources"}, which the next one looks at first`;
