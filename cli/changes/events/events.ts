import { jsonIn } from "../../../provider/contract/wire.ts";
import { describeSizes, type DescribeSize } from "../../../provider/environment/things/sizes.ts";
import { signature } from "../../../provider/pulumi/secrets.ts";
import {
  noTally,
  orderThings,
  orderChanges,
  secretText,
  toShownKind,
  type Change,
  type ChangeSet,
  type Thing,
} from "../model/changeSet.ts";
import { fieldOf, stable } from "../model/values.ts";
import { RenamingWatch } from "./renamings.ts";

/** A step of an engine, with what all forms of events have. */
interface Step {
  op: string;
  urn: string;
  /** Properties that differ, where the form lists them. */
  changes?: readonly { path: string; kind: string; old?: unknown; new?: unknown }[] | undefined;
  old?: Record<string, unknown> | undefined;
  new?: Record<string, unknown> | undefined;
  /** The deleted resource's outputs in the state. */
  outputs?: Record<string, unknown> | undefined;
  id?: string | undefined;
}

/** Why a text has no events. */
export class EventsError extends Error {}

/** The report of the steps that an engine planned or took, for any kind of program. */
export function eventsReport(text: string): ChangeSet {
  const steps = stepsIn(text);
  if (steps.length === 0) {
    throw new EventsError("it has no events: write it with 'preview --json', or with --event-log of the Pulumi CLI");
  }
  const sizeOf = describeSizes();
  const stacks = Map.groupBy(steps, ({ urn }) => urn.split("::")[0]?.replace(/^urn:pulumi:/, "") ?? "");
  const environments = [...stacks].map(([stack, own]) => ({
    name: stack === "" ? "stack" : stack,
    stack,
    change: { compared: true, things: orderThings(own.flatMap((step) => thingOf(step, sizeOf) ?? [])) },
    problems: [],
    flags: [],
    notes: hintsOf(own),
  }));
  return { version: 1, kind: "events", flags: [], environments };
}

/** Hints at things that may only have another key. */
function hintsOf(steps: readonly Step[]): string[] {
  const watch = new RenamingWatch();
  for (const { op, urn, outputs, new: inputs } of steps)
    watch.take({ op, urn, resourceType: typeOf(urn), properties: outputs ?? inputs ?? {} });
  return watch.hints().map(({ message }) => message);
}

const typeOf = (urn: string): string => (urn.split("::")[2] ?? "").split("$").at(-1) ?? "";

/** The steps of one JSON value (`pulumi preview --json`) or of one a line. */
function stepsIn(text: string): Step[] {
  const whole = jsonIn(text);
  const values = whole === undefined ? text.split("\n").flatMap((line) => jsonIn(line) ?? []) : [whole];
  return values.flatMap((value): Step[] => {
    const event = objectOf(value);
    if (Array.isArray(event["steps"]))
      return event["steps"].flatMap((step: unknown) => stepOf(objectOf(step), "oldState", "newState"));
    if (event["type"] === "step") return stepOf(event);
    return stepOf(objectOf(objectOf(event["resourcePreEvent"])["metadata"]), "old", "new");
  });
}

function stepOf(raw: Record<string, unknown>, before = "", after = ""): Step[] {
  const { op, urn, changes, id, properties } = raw;
  if (typeof op !== "string" || typeof urn !== "string" || raw["internal"] === true) return [];
  if (Array.isArray(changes)) {
    const fields = changes.map(objectOf).map(({ path, kind, old, new: now }) => ({
      path: String(path),
      kind: String(kind),
      old: hidden(old),
      new: hidden(now),
    }));
    return [{ op, urn, changes: fields }];
  }
  const state = objectOf(raw[before]);
  const outputs = op === "delete" ? objectOf(hidden(before === "" ? properties : state["outputs"])) : undefined;
  const known = { outputs, id: [id, state["id"]].find((each) => typeof each === "string") };
  const inputs = (name: string): Record<string, unknown> =>
    objectOf(hidden(name === "" ? properties : objectOf(raw[name])["inputs"]));
  return [{ op, urn, ...known, old: inputs(before), new: inputs(after) }];
}

const ops: Record<string, Thing["op"]> = { create: "add", delete: "remove", update: "change", replace: "replace" };

function thingOf(
  { op, urn, changes, old = {}, new: now = {}, outputs, id }: Step,
  sizeOf: DescribeSize,
): Thing | undefined {
  const [, , , ...names] = urn.split("::");
  const type = typeOf(urn);
  const what = ops[op];
  if (what === undefined || type.startsWith("pulumi:")) return undefined;
  const fields = changes ? changes.map(changeOf) : what === "change" || what === "replace" ? differing(old, now) : [];
  const rows = fields.filter(({ kind }) => kind === "row");
  const tally = noTally();
  for (const row of rows) tally[row.op]++;
  const size = outputs && sizeOf({ urn, resourceType: type, properties: outputs, ...(id === undefined ? {} : { id }) });
  const kind = toShownKind(type) ?? "resource";
  const name = kind === "resource" ? `${type.split(":").at(-1) ?? ""} ${names.join("::")}` : names.join("::");
  return {
    kind,
    name,
    op: what,
    ...(rows.length > 0 ? { rows: tally } : {}),
    changes: orderChanges(fields),
    omitted: 0,
    notes: size === undefined ? [] : [size],
    guards: [],
  };
}

const changeOps: Record<string, Change["op"]> = { add: "add", delete: "remove", update: "change" };

function changeOf({ path, kind, old, new: now }: NonNullable<Step["changes"]>[number]): Change {
  const op = changeOps[kind] ?? "change";
  const [, quoted, plain] = /^rows(?:\["(.*)"\]|\.(.+))$/s.exec(path) ?? [];
  const row = quoted ?? plain;
  if (row !== undefined) return { kind: "row", op, name: row, fields: [] };
  return {
    kind: "setting",
    op,
    name: path,
    fields: [fieldOf(path, old, now, old === secretText || now === secretText)],
  };
}

function differing(old: Record<string, unknown>, now: Record<string, unknown>): Change[] {
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])].filter((name) => !name.startsWith("__"));
  return names.flatMap((name): Change[] => {
    const [was, is] = [old[name], now[name]];
    if (stable(was) === stable(is)) return [];
    const op = is === undefined ? "remove" : was === undefined ? "add" : "change";
    return [{ kind: "setting", op, name, fields: [fieldOf(name, was, is, was === secretText || is === secretText)] }];
  });
}

/** A value in which every secret, whatever form it is written in, is the word for one. */
function hidden(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(hidden);
  if (typeof value !== "object" || value === null) return value;
  if (Object.hasOwn(value, signature)) return secretText;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, hidden(inner)]));
}

const objectOf = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
