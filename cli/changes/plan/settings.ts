import type { z } from "zod";
import { isObject } from "../../../provider/contract/wire.ts";
import type { Link } from "../../../provider/environment/things/things.ts";
import { factsOf } from "../../../provider/resources/model/resource.ts";
import { secretText, toShownKind, type Change } from "../model/changeSet.ts";
import type { Declared } from "../model/source.ts";
import { fieldOf, stable } from "../model/values.ts";
import { resourceOf } from "./knownThing.ts";
import type { PlannedStep } from "./planner.ts";

/** Inputs whose changes are shown as rows or people, or that no file has. */
const otherwise = [
  ...[
    "rows",
    "additions",
    "changes",
    "removals",
    "members",
    "until",
    "fields",
    "organizationID",
    "teamID",
    "appID",
    "removal",
  ],
  ...["digest", "salt", "fingerprint", "keys", "resourceUrn", "unfinished", "drift"],
];

type Values = Readonly<Record<string, unknown>>;

/** Changes of a thing's settings, each at its place in the file. */
export function settingsAhead(step: PlannedStep, sides: { base: Declared | undefined; head: Declared }): Change[] {
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

/** True if a run heeds another value of a setting: what no diff shows is read by the run, where files say it. */
export function isHeeded({ thing, known, changed }: PlannedStep, name: string): boolean {
  const schema: unknown = thing && resourceOf(thing.kind).inputs.shape[name];
  if (changed.includes(name)) return true;
  return known?.thing !== undefined && (schema === undefined || factsOf(schema).ignoredInDiff === true);
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
