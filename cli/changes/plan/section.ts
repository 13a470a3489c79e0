import { formatCount } from "../../../provider/messages/text.ts";
import type { RowsAhead } from "../../../provider/reconcile/rows.ts";
import { callsAhead } from "../../../provider/resources/rows/reports.ts";
import {
  orderThings,
  orderChanges,
  noTally,
  toShownKind,
  type Change,
  type Note,
  type Section,
  type Tally,
  type Thing,
} from "../model/changeSet.ts";
import type { Declared } from "../model/source.ts";
import { peopleAhead } from "./people.ts";
import type { Plan, PlannedStep } from "./planner.ts";
import { renamesIn } from "./renames.ts";
import { listRows } from "./rowValues.ts";
import { settingsAhead } from "./settings.ts";

/** The declarations that a plan is about; a state has no base. */
interface Sides {
  base: Declared | undefined;
  head: Declared;
}

/** A plan in the model of a report, and what is wrong with what is declared. */
export async function sectionOf(plan: Plan, sides: Sides): Promise<{ section: Section; problems: Note[] }> {
  const things: Thing[] = [];
  const problems: Note[] = [];
  const open: string[] = [];
  const reasons: string[] = [];
  const renames = renamesIn(plan, sides.head);
  let calls = 0;
  for (const step of plan.steps) {
    const kind = toShownKind(step.thing?.kind ?? step.known?.kind ?? "");
    if (!kind) continue;
    const made = await thingOf(kind, step, plan, sides);
    problems.push(...made.problems.map((text) => ({ text })));
    if (made.unread && step.known?.why !== undefined) reasons.push(`${nameOf(step)}: ${step.known.why}`);
    else if (made.unread) open.push(nameOf(step));
    calls += made.calls;
    const renamed = renames.notes.get(step) ?? [];
    if (made.thing) things.push({ ...made.thing, notes: [...made.thing.notes, ...renamed] });
  }
  if (open.length > 0)
    reasons.push(`rows of ${formatCount(open.length, "seed")} are compared when up runs: ${open.join(", ")}`);
  const why = reasons.length === 0 ? {} : { why: reasons.join("; ") };
  const hints = renames.hints.length === 0 ? {} : { hints: renames.hints };
  const section: Section = { compared: true, ...why, things: orderThings(things), ...hints };
  return { section: sides.base ? section : { ...section, calls }, problems };
}

const nameOf = ({ thing, known }: PlannedStep): string => {
  const key = thing?.key ?? known?.key ?? "";
  return key.slice(key.indexOf(" ") + 1);
};

const operations = { create: "add", update: "change", same: "change", replace: "replace", delete: "remove" } as const;

interface Made {
  thing?: Thing;
  problems: string[];
  calls: number;
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
    touched(seed?.tally) + touched(people?.tally) + guards.length + (seed?.notes.length ?? 0) > 0;
  const unread = seed?.unread ?? false;
  if (!isTouched) return { problems, calls: 0, unread };
  const place = placeOf(step, sides);
  return {
    problems,
    unread,
    calls: callsOf(step, kind, settings.length, people?.tally, seed?.tally),
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
        ...(seed?.notes ?? []),
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
const waitOf = ({ steps }: Plan, { thing, known }: PlannedStep): PlannedStep[] =>
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
  [...(rows?.keptForOthers ?? [])].map(
    ([name, count]) =>
      `${formatCount(count, "row")} stay${count === 1 ? "s" : ""}: ${name} declares ${count === 1 ? "it" : "them"}`,
  );

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

/** About how many calls a run makes for a thing. A change of settings looks first. */
function callsOf(
  { operation, thing, inputs, known, rows }: PlannedStep,
  kind: Thing["kind"],
  settings: number,
  people: Tally | undefined,
  tally: Tally | undefined,
): number {
  if (kind === "seed") {
    const plan = rows?.plan;
    const owned = Number(known?.outputs["rowCount"] ?? 0);
    const links = (thing ? inputs : {}) as Parameters<typeof callsAhead>[0];
    return plan?.exact && (tally?.add ?? 0) + (tally?.change ?? 0) + (tally?.remove ?? 0) > 0
      ? callsAhead(links, plan, owned, known?.keepsCells)
      : 0;
  }
  const own = operation === "create" ? (kind === "app" ? 2 : 1) : operation === "delete" ? 1 : settings > 0 ? 2 : 0;
  return (
    own + ((people?.add ?? 0) > 0 && operation !== "delete" ? 2 : 0) + (people?.change ?? 0) + (people?.remove ?? 0)
  );
}
