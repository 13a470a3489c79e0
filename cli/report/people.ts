import { isObject } from "../../platform/contract/wire.ts";
import { some } from "../../platform/messages/text.ts";
import type { DeclaredThing as Declaring } from "../../provider/environment/things.ts";
import { planMembers, type PlanOptions, type Role } from "../../provider/people/people.ts";
import { type Change, fieldOf, fieldsOf, noTally, type Tally } from "./changeSet.ts";
import { isHeeded, type KnownThing, type Plan, type PlannedStep } from "./planner.ts";
import type { Declared } from "./source.ts";

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
  settings: Readonly<Record<string, unknown>>;
  path: readonly string[];
  step: PlannedStep;
}

/** The people of a team on both sides, one by one, whether they stand in its members or in its roster. */
export function peopleAhead(plan: Plan, team: PlannedStep, sides: PlacedSides): PeopleAhead {
  const isOf = ({ thing, known }: PlannedStep): boolean =>
    (thing !== undefined && thing.above === team.thing?.key && team.thing !== undefined) ||
    (known !== undefined && team.known !== undefined && isBelow(known, team.known));
  return comparePeople(
    plan.filter((step) => isOfPeople(step) && isOf(step)),
    sides,
    team.operation === "create",
  );
}

/** True for the step of a person or a roster. */
export const isOfPeople = (step: PlannedStep): boolean => /^Team(Member|Roster)$/.test(kindOf(step));

/** Compares the people of one team on both sides. */
export function comparePeople(steps: readonly PlannedStep[], sides: PlacedSides, isNew: boolean): PeopleAhead {
  const known = new Map(steps.flatMap(knownPeople).map((one) => [one.email.toLowerCase(), one]));
  const wanted = new Map(steps.flatMap(wantedPeople).map((one) => [one.email.toLowerCase(), one]));
  const tally = noTally();
  const changes: Change[] = [];
  const roster = steps.find(({ thing }) => thing?.kind === "TeamRoster");
  const ahead = roster ? rosterAhead(roster, [...known.values()]) : undefined;
  const add = (op: Change["op"], { email, path }: Person, fields: Change["fields"]): void => {
    tally[op]++;
    const side = op === "remove" ? sides.base : sides.head;
    changes.push({ kind: "person", op, name: email, fields, ...(side ? { place: side.place(path) } : {}) });
  };
  const retained: string[] = [];
  for (const [key, person] of known) {
    if (wanted.has(key)) continue;
    if (person.step.operation === "delete" && person.step.known?.isRetained) {
      retained.push(person.email);
      continue;
    }
    // A roster that goes on takes out nobody but whom its plan names.
    const stays = person.step === roster && ahead && !ahead.removed.has(key);
    if (!stays)
      add(
        "remove",
        person,
        person.settings["role"] === undefined ? [] : [fieldOf("role", person.settings["role"], undefined)],
      );
  }
  for (const [key, person] of wanted) {
    const former = known.get(key);
    if (!former || isNew) {
      add("add", person, fieldsOf({}, person.settings));
      continue;
    }
    const fields = changedOf(former, person);
    if (fields.length > 0) add("change", person, fields);
    else tally.same++;
  }
  const guards = roster?.operation === "create" ? (ahead?.refusals ?? []) : [];
  const stay = retained.length === 1 ? "stays a member" : "stay members";
  const notes = retained.length === 0 ? [] : [`${some(retained, 5)} ${stay}: retain is set`];
  return { changes, tally, guards, notes, steps };
}

/** True if a person or roster is one of a team. */
const isBelow = (known: KnownThing, team: KnownThing): boolean =>
  known.outputs["teamID"] === team.id || known.name.startsWith(`${team.name}/`);

const kindOf = ({ thing, known }: PlannedStep): string => thing?.kind ?? known?.kind ?? "";

/** Changes of a person's settings. A setting that has left the file keeps its value. */
function changedOf(former: Person, { settings, step }: Person): Change["fields"] {
  const isSame = step.known !== undefined && step === former.step && step.thing?.kind === "TeamMember";
  const own = Object.keys(settings).filter((name) => (isSame ? isHeeded(step, name) : name === "role"));
  const names = [...new Set([...own, "until"])];
  return names.flatMap((name) => {
    const [was, is] = [former.settings[name], settings[name]];
    // An end that leaves the file leaves the person.
    const isKept = name !== "until" && (is === undefined || (!isSame && was === undefined));
    if (isKept || JSON.stringify(was) === JSON.stringify(is)) return [];
    return [fieldOf(name, was, is)];
  });
}

const own = ["teamID", "email", "removal", "resourceUrn", "memberUserID", "platform", "ended"];
const settingsIn = (values: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    Object.entries(values).filter(([name, value]) => !own.includes(name) && value !== undefined && value !== null),
  );

function wantedPeople(step: PlannedStep): Person[] {
  const { thing } = step;
  if (!thing || step.inputs["ended"] === true) return [];
  if (thing.kind === "TeamMember") {
    const settings = { ...settingsIn(thing.inputs), ...linkSettings(thing) };
    return [{ email: nameOf(thing.inputs, thing.key), settings, path: thing.path, step }];
  }
  const settled = step.inputs["members"];
  const members = isObject(settled) && step.problems.length === 0 ? settled : thing.inputs["members"];
  return membersIn(members, [...thing.path, "members"], step, thing.inputs["until"]);
}

/** Somebody's address, or what else a program knows them by. */
const nameOf = ({ email, userID }: Readonly<Record<string, unknown>>, name: string): string =>
  [email, userID].find((one) => typeof one === "string") ?? name.slice(name.lastIndexOf("/") + 1);

/** The app that an invitation opens, as the file has it. */
const linkSettings = ({ links }: Declaring): Readonly<Record<string, unknown>> => {
  const [target] = links["targetInitialApp"] ?? [];
  if (!target) return {};
  return { targetInitialApp: target.of === undefined ? target.id : { app: target.of.slice("GeneratedApp ".length) } };
};

function knownPeople(step: PlannedStep): Person[] {
  const { known } = step;
  if (!known || known.outputs["ended"] === true) return [];
  const path = known.thing?.path ?? [];
  if (known.kind === "TeamRoster")
    return membersIn(known.outputs["members"], [...path, "members"], step, known.outputs["until"]);
  const name = nameOf(known.outputs, known.name);
  const settings = known.thing
    ? { ...settingsIn(known.thing.inputs), ...linkSettings(known.thing) }
    : settingsIn(known.outputs);
  return [{ email: name, settings, path, step }];
}

const membersIn = (members: unknown, path: readonly string[], step: PlannedStep, ends?: unknown): Person[] =>
  isObject(members)
    ? Object.entries(members).map(([email, role]) => ({
        email,
        settings: {
          ...(role === undefined ? {} : { role }),
          ...(isObject(ends) && ends[email] !== undefined ? { until: ends[email] } : {}),
        },
        path: [...path, email],
        step,
      }))
    : [];

const roleOf = (role: unknown): Role | undefined => (role === "admin" || role === "member" ? role : undefined);

/** Effects of a roster on the present people of a team. */
function rosterAhead(
  { inputs }: PlannedStep,
  known: readonly Person[],
): { removed: ReadonlySet<string>; refusals: string[] } {
  const members = isObject(inputs["members"]) ? inputs["members"] : {};
  const wanted = Object.entries(members).map(([email, role]) => ({ email, role: roleOf(role) }));
  const live = known.map(({ email, settings }) => ({ userID: email, email, role: roleOf(settings["role"]) }));
  const options = { ...(inputs as unknown as PlanOptions), owned: live, keepSelf: undefined }; // it was checked
  const { remove, refusals } = planMembers(wanted, live, options);
  return { removed: new Set(remove.map(({ email }) => email.toLowerCase())), refusals };
}
