import type { z } from "zod";
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
    const field = fieldOf(name, was[name] ?? before[name], is[name] ?? after[name]);
    const op = field.after === undefined ? "remove" : field.before === undefined ? "add" : "change";
    const place =
      op === "remove" ? base?.place([...(known?.thing?.path ?? []), name]) : head.place([...(thing?.path ?? []), name]);
    return [{ kind: "setting", op, name, fields: [field], ...(place === undefined ? {} : { place }) }];
  });
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
    const field = fieldOf(name, known.outputs[name] ?? undefined, inputs[name] ?? undefined, isSecret);
    const place = head.place([...thing.path, name]);
    return [
      {
        kind: "setting",
        op: "change",
        name,
        fields: [isSecret ? { ...field, before: secretText, after: secretText } : field],
        place,
      },
    ];
  });
}

const isSameLink = (one: readonly Link[] = [], other: readonly Link[] = []): boolean => stable(one) === stable(other);
