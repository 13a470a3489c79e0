import type { Struct } from "google-protobuf/google/protobuf/struct_pb.js";
import structProto from "google-protobuf/google/protobuf/struct_pb.js";
import { isDeepStrictEqual } from "node:util";
import { readStruct } from "../../../machine/structs.ts";
import { isObject } from "../../../platform/contract/wire.ts";
import { factsOf } from "../../resources/common.ts";
import type { ChangeKind, Diff, Resource } from "../../resources/resource.ts";
import { leavesOf } from "../../seedRows/source/source.ts";
import {
  type Definition,
  noCells,
  type Properties,
  secretCells,
  secretSignature,
  signature,
  textsIn,
  toPlain,
  unknownValue,
  withCells,
  without,
} from "../properties.ts";

/** Signatures of objects that stand for something else. */
const kinds = {
  secret: secretSignature,
  reference: "5cf8f73096256a8f31e491e813e4eb8e",
  output: "d0e6a833031e9bbcd3f4e8bde6ca49a4",
} as const;

/** Levels of properties, those of marks for secrets and outputs included. */
const maxLevels = 300;

/** Properties as a resource works with them, and what was secret in them. */
export interface Decoded {
  /** Plain values, secrets in clear; what is not known yet is the word for it. */
  values: Properties;
  /** Names of the properties that hold a secret elsewhere than in cells whose labels are secret. */
  secrets: ReadonlySet<string>;
  /** The secret texts themselves, which no message may show. */
  texts: string[];
}

/** Takes a message's properties apart; with a resource, of which labels are secret in the items of some. */
export function decode(struct: Struct | undefined, resource?: Definition): Decoded {
  const sent: Properties = readStruct(struct, { levels: maxLevels });
  const [values, open]: [Properties, Properties] = [{}, {}];
  const secrets = new Set<string>();
  const texts: string[] = [];
  const withoutCell = (cell: unknown): void => void texts.push(...leavesOf(plain(cell, () => undefined)));
  const shown = resource ? withCells(secretCells(resource, sent), sent, withoutCell) : sent;
  for (const [name, value] of Object.entries(sent)) {
    open[name] = plain(shown[name], (secret) => {
      secrets.add(name);
      for (const text of textsIn(secret)) texts.push(text);
    });
    values[name] = shown[name] === value ? open[name] : plain(value, () => undefined);
  }
  const clear =
    texts.length === 0
      ? []
      : Object.entries(open).flatMap(([name, value]) => (secrets.has(name) ? [] : textsIn(value)));
  return { values, secrets, texts: without(texts, clear) };
}

/** Returns the value in clear; calls `secret` with each secret in it. */
function plain(value: unknown, secret: (value: unknown) => void): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => plain(item, secret));
  const object: Readonly<Record<string, unknown>> = { ...value };
  switch (object[signature]) {
    case undefined:
      return Object.fromEntries(Object.entries(object).map(([name, item]) => [name, plain(item, secret)]));
    case kinds.secret:
      return toStructValue(plain(object["value"], secret), secret);
    case kinds.output: {
      const known = "value" in object ? plain(object["value"], secret) : unknownValue;
      return object["secret"] === true ? toStructValue(known, secret) : known;
    }
    case kinds.reference:
      return object["id"] === "" ? unknownValue : (object["id"] ?? object["urn"]);
    default:
      throw new Error("files and archives can't be values here: give the text itself, or the path of a source");
  }
}

function toStructValue(value: unknown, secret: (value: unknown) => void): unknown {
  secret(value);
  return value;
}

const secret = (value: unknown): object => ({ [signature]: kinds.secret, value });

/** Makes a message's properties; those with these names are secrets, and those in cells. */
export function encode(values: Properties, secrets: ReadonlySet<string>, cells = noCells): Struct {
  const marked = Object.entries(values).map(([name, value]) => {
    if (secrets.has(name) && value !== undefined) return [name, secret(value)] as const;
    return [name, value] as const;
  });
  // JSON as the wire has it: without undefined.
  const properties = withCells(cells, Object.fromEntries(marked), secret);
  return structProto.Struct.fromJavaScript(JSON.parse(JSON.stringify(properties)) as Record<string, never>);
}

/** How what stands at a property path, as Pulumi writes it, changes: `references.Continent.table`, `key[0]`. */
export interface Detail {
  path: string;
  kind: ChangeKind;
  /** Where an engine finds the old value: among the inputs of the last run, or among the outputs. */
  among: "inputs" | "outputs";
}

/** Most parts of a property that are shown one by one. */
const maxParts = 60;

type Paths = [path: string, kind: ChangeKind][];

/** Parts of a resource's change. A named part is shown by its name, with its old and its new value. */
export function detailsOf(
  { inputs, outputs }: Pick<Resource, "inputs" | "outputs">,
  { changed, parts = {} }: Diff,
  olds: { inputs: Properties; outputs: Properties },
  news: Properties,
  secrets: ReadonlySet<string>,
): Detail[] {
  const shape: Readonly<Record<string, unknown>> = { ...outputs.shape, ...inputs.shape };
  const causes = new Map(changed.map((name) => [factsOf(shape[name]).diffedAs ?? name, name]));
  return [...causes].flatMap(([name, cause]) => {
    if (name === cause) return details(olds.outputs, news, [name], secrets);
    const [old, now] = [olds.inputs[name], news[name]];
    const part = parts[name];
    if (isObject(old) && isObject(now) && !secrets.has(name)) {
      const found = perItem(name, toPlain(old), toPlain(now), named);
      if (found.length > 0) return capped(name, found, found.length, "inputs");
    }
    // What moves from the program to a file, or back, is neither gone nor new: no output has it.
    const among = isObject(old) === isObject(now) ? "inputs" : "outputs";
    if (!part && name in olds.outputs && !secrets.has(name)) return details(olds.outputs, news, [cause], secrets);
    if (!part) return [{ path: name, kind: "update", among }];
    const found = part.first.map(([part, kind]): Paths => [[named(name, part), kind]]);
    return capped(name, found, part.total, among);
  });
}

/** The changes below some properties. A secret changes as a whole, since paths into it would tell what it is made of. */
export const details = (
  olds: Properties,
  news: Properties,
  names: readonly string[],
  secrets: ReadonlySet<string>,
): Detail[] =>
  names.flatMap((name) => {
    const path = at("", name);
    const found = secrets.has(name) ? [] : perItem(path, toPlain(olds[name]), toPlain(news[name]), at);
    // A resource may see a change where the values show none.
    if (found.length === 0) found.push([[path, kindOf(toPlain(olds[name]), toPlain(news[name]))]]);
    return capped(path, found, found.length, "outputs");
  });

/** The first parts, and an extra one that counts the others: engines show additions in any case. */
function capped(path: string, parts: readonly Paths[], total: number, among: Detail["among"]): Detail[] {
  const shown = parts.slice(0, maxParts);
  const others = total - shown.length;
  const rest: Paths = others > 0 ? [[named(path, `and ${others} more of ${total}`), "add"]] : [];
  return [...shown.flat(), ...rest].map(([path, kind]) => ({ path, kind, among }));
}

/** The changes below each item of a list or map, or of the value itself. */
function perItem(path: string, old: unknown, now: unknown, step: (path: string, name: string) => string): Paths[] {
  if (isDeepStrictEqual(old, now)) return [];
  const items: Paths[] = [];
  if (Array.isArray(old) && Array.isArray(now)) {
    for (let index = 0; index < Math.max(old.length, now.length); index++) {
      items.push(below(`${path}[${index}]`, old[index] ?? null, now[index] ?? null));
    }
  } else if (isObject(old) && isObject(now)) {
    for (const name of new Set([...Object.keys(old), ...Object.keys(now)])) {
      items.push(below(step(path, name), old[name] ?? null, now[name] ?? null));
    }
  } else items.push([[path, kindOf(old, now)]]);
  return items.filter((paths) => paths.length > 0);
}

const below = (path: string, old: unknown, now: unknown): Paths => perItem(path, old, now, at).flat();

const kindOf = (old: unknown, now: unknown): ChangeKind =>
  old === now ? "update" : old === null ? "add" : now === null ? "delete" : "update";

const named = (path: string, name: string): string => `${path}[${JSON.stringify(name)}]`;

function at(path: string, name: string): string {
  if (!/^[A-Za-z_]\w*$/.test(name)) return named(path, name);
  return path === "" ? name : `${path}.${name}`;
}
