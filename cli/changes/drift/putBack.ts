import { topName } from "../../../provider/environment/things/logicalNames.ts";
import type { DeclaredThing as Declaring } from "../../../provider/environment/things/things.ts";
import { resourceNamed } from "../../../provider/resources/resources.ts";
import { secretText, type Change, type Field } from "../model/changeSet.ts";
import { fieldOf, stable } from "../model/values.ts";
import type { KnownThing } from "../plan/knownThing.ts";
import { comparePeople, isOfPeople } from "../plan/people.ts";
import { Planner, type PlannedStep } from "../plan/planner.ts";
import { holdsSealed, type StateResource } from "../state/state.ts";

type Values = Readonly<Record<string, unknown>>;

/** A resource of a state beside what is on the platform. */
export interface Looked {
  each: StateResource;
  /** As it was applied. */
  values: Values;
  /** The live resource; undefined when it does not exist. */
  found: Values | undefined;
}

/** A step of the run that puts back what was applied. */
export interface PutBack extends Looked {
  step: PlannedStep;
}

/** Plans the run that puts everything back, but for rows: the platform is what is known, the state what is declared. */
export async function planPutBack(looked: readonly Looked[], folder: string): Promise<PutBack[]> {
  const things = looked.map(({ each, values }) => toThing(each, values));
  const known = looked.flatMap(({ each, values, found }) => (found ? [toKnown(each, values, found)] : []));
  const { steps } = await new Planner({ folder }, known, things).plan();
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
  return { ...empty, kind: kind as Declaring["kind"], name: topName(`/${name}`), key: `${kind} ${name}`, inputs };
}

const toKnown = (each: StateResource, inputs: Values, outputs: Values): KnownThing => ({
  ...{ key: keyOf(each), kind: each.kind, name: each.name, id: each.id },
  inputs: withoutEnds(each.kind, inputs),
  outputs: withoutEnds(each.kind, outputs),
});

/** The values with the people whom the last run had: nobody leaves by hand because a day has passed. */
function withoutEnds(kind: string, values: Values): Values {
  if (!hasEnds(kind) || values["ended"] === true) return values;
  return Object.fromEntries(Object.entries(values).filter(([name]) => !["until", "source", "team"].includes(name)));
}

const hasEnds = (kind: string): boolean => ["TeamMember", "TeamRoster"].includes(kind);

/** Settings that the run would put back, from what was applied to what was found. */
export const settingsByHand = ({ each, values, found = {}, step }: PutBack): Field[] =>
  listChangedByHand({ values, found, step }).map((name) =>
    fieldOf(name, values[name] ?? undefined, found[name] ?? undefined, holdsSealed(each.values[name])),
  );

/** Names of settings that the run would put back. A default that the state lacks was changed by nobody. */
export const listChangedByHand = ({ values, found = {}, step }: Omit<PutBack, "each">): string[] =>
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
    values["sensitive"] === true || holdsSealed(each.values["members"]);
  const secret = new Set(
    people.flatMap(({ each, values }) => (holdsSealed(each.values["email"]) ? values["email"] : [])),
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
