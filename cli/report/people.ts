import { isObject } from "../../platform/contract/wire.ts";
import { some } from "../../platform/messages/text.ts";
import type { DeclaredThing } from "../../provider/environment/things.ts";
import { planMembers, type PlanOptions, type Role } from "../../provider/people/people.ts";
import { type Change, fieldOf, fieldsOf, noTally, type Tally } from "./changeSet.ts";
import { isHeeded, type Plan, type PlannedStep } from "./planner.ts";
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

type Values = Readonly<Record<string, unknown>>;

interface Person {
  email: string;
  settings: Values;
  path: readonly string[];
  step: PlannedStep;
}

/** The people of a team on both sides, one by one, whether they stand in its members or in its roster. */
export function peopleAhead(plan: Plan, team: PlannedStep, sides: PlacedSides): PeopleAhead {
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
  return { removed: new Set(remove.map(({ email }) => email.toLowerCase())), refusals };
}
