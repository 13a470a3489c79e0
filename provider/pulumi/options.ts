import { z } from "zod";
import { isObject } from "../../platform/contract/wire.ts";
import { factsOf } from "../resources/common.ts";
import type { Resource } from "../resources/resource.ts";
import type { Properties } from "./properties.ts";

/** The input by which a state of a dynamic resource remembers which of its inputs are secrets. */
const secretsInput = "__options";

/**
 * The input that carries what no host of dynamic resources gets from its engine. It is one, because each property of a
 * resource is dear to make; a check takes it apart, and no state has it.
 */
export const programInput = "__program";

const kept = z.object({ secrets: z.array(z.string()).default([]) });

const fromProgram = z.object({
  resourceUrn: z.string().optional(),
  isPreview: z.boolean().optional(),
  secrets: z.array(z.string()).optional(),
  ignoreChanges: z.array(z.string()).optional(),
});

/** Content of {@link programInput}. */
export interface FromProgram {
  resourceUrn: string | Promise<string>;
  /** True when the program runs for a preview. */
  isPreview: boolean;
  /** The option of the resource: a host does not hand it over. */
  ignoreChanges?: readonly string[];
  /** Names of the inputs that hold a secret: a host gets all in clear. */
  secrets?: Promise<string[] | undefined>;
}

/** Takes what is not the resource's own out of a dynamic resource's inputs. */
export function fromDynamic({ [secretsInput]: last, [programInput]: program, ...own }: Properties): {
  inputs: Properties;
  secrets: readonly string[];
  isPreview?: boolean | undefined;
  ignoreChanges?: readonly string[] | undefined;
} {
  if (program === undefined) {
    return { inputs: own, secrets: last === undefined ? [] : kept.parse(last).secrets };
  }
  const { resourceUrn, secrets = [], ...rest } = fromProgram.parse(program);
  return { inputs: resourceUrn === undefined ? own : { ...own, resourceUrn }, secrets, ...rest };
}

/** The properties with the names of those that are secrets: a refresh and a destroy have nothing else. */
export const remembering = (properties: Properties, secrets: readonly string[]): Properties =>
  secrets.length === 0 ? properties : { ...properties, [secretsInput]: { secrets } };

/** The part of a resource that decides which options it takes. */
export type Definition = Pick<Resource, "name" | "inputs">;

/** Why `ignoreChanges` can't be honoured, in one sentence: engines apply it before a resource has seen its inputs. */
export function explainRefusedIgnores(
  { name, inputs: { shape } }: Definition,
  paths: readonly string[] = [],
  inputs: Properties,
): string | undefined {
  const own = Object.keys(shape).filter((property) => !factsOf(shape[property]).computed);
  for (const path of paths) {
    const [, head = path, below = ""] = /^([^.[\]]+)(.*)$/s.exec(path) ?? [];
    if (head !== "*" && !own.includes(head))
      return `ignoreChanges names ${path}, which is not an input of ${name}; it has ${own.join(", ")}`;
    const rows = own.find((property) => ["*", property].includes(head) && factsOf(shape[property]).keyedBy);
    if (rows === undefined || (below === "" && (head === "*" || inputs["source"] === undefined))) continue;
    const what = below === "" ? "what is in a source" : `a part of ${rows}`;
    return (
      `ignoreChanges names ${path}, and ${what} can't be ignored: set mode to "upsert", which removes no row, and leave ` +
      `a label out of the rows to leave its values alone, set mode to "insertOnly" to change no row that is there, or set ` +
      `onConflict to "keepLive" to keep what is edited by hand`
    );
  }
  return undefined;
}

/**
 * Inputs with what is there in place of what `ignoreChanges` names: an engine puts the last inputs there, and what somebody
 * changed on the platform since would be written back.
 */
export function withIgnored(
  { inputs: { shape } }: Definition,
  paths: readonly string[],
  there: Properties,
  inputs: Properties,
): Properties {
  const kept: Properties = { ...inputs };
  const put = (into: Properties, from: Properties, [name, ...below]: string[]): void => {
    if (name === undefined) return;
    const [part, known] = [into[name], from[name]];
    if (below.length > 0 && isObject(part)) put((into[name] = { ...part }), isObject(known) ? known : {}, below);
    else if (known === undefined) Reflect.deleteProperty(into, name);
    else into[name] = known;
  };
  // Outputs have no rows: {@link leavingRows} is for them.
  const settable = Object.keys(shape).filter((name) => {
    const { computed, writeOnly, keyedBy } = factsOf(shape[name]);
    return !computed && !writeOnly && keyedBy === undefined;
  });
  for (const [head = "", ...below] of paths.map((path) => (parsePath(path) ?? []).map(String)))
    for (const name of head === "*" ? settable : [head])
      if (settable.includes(name)) put(kept, there, [name, ...below]);
  return kept;
}

/** Inputs of a seed that leave alone what somebody changed, where `ignoreChanges` names its rows. */
export const leavingRows = ({ inputs: { shape } }: Definition, paths: readonly string[]): Properties =>
  "onConflict" in shape && paths.some((path) => path === "*" || path === "rows") ? { onConflict: "keepLive" } : {};

/** A place inside properties: names, indexes, and `*` for every element. */
type PropertyPath = readonly (string | number)[];

/** Reads `root.nested[0]["a.b"].*`, as the options of Pulumi spell it; undefined for what is no path. */
function parsePath(text: string): PropertyPath | undefined {
  const steps = /\.?(?:\["((?:\\"|[^"])*)"\]|\[(\d+|\*)\]|([^.[\]]+))/y;
  const path: (string | number)[] = [];
  while (steps.lastIndex < text.length) {
    const [, quoted, index, name] = steps.exec(text) ?? [];
    if (quoted !== undefined) path.push(quoted.replaceAll('\\"', '"'));
    else if (index !== undefined) path.push(index === "*" ? index : Number(index));
    else if (name !== undefined) path.push(name);
    else return undefined;
  }
  return path.length === 0 || text.startsWith(".") ? undefined : path;
}

/** Writes a path as {@link parsePath} reads it. */
const pathText = ([first, ...rest]: PropertyPath): string =>
  String(first) +
  rest.map((step) => (typeof step === "number" || step === "*" ? `[${step}]` : `[${JSON.stringify(step)}]`)).join("");

/** Options of a component that are about what is below it. */
interface OfComponent<Timeouts> {
  ignoreChanges?: string[];
  replaceOnChanges?: string[];
  customTimeouts?: Timeouts;
}

/** Options of a component as they are for what is below it. */
export interface OptionsBelow<Timeouts> {
  /** Those of the thing at a place of the declaration. `others` are names there that are things of their own. */
  at: (place: readonly string[], others?: readonly string[]) => OfComponent<Timeouts>;
  /** Refuses, in one sentence, a path that is of nothing that was asked for; undefined where all are of something. */
  refusal: () => string | undefined;
}

/**
 * Hands on what no engine does for a component, which has no properties of its own to ignore: paths begin with the place
 * in the declaration, such as `organizations.acme.name`, and each thing gets the rest of its own.
 */
export function optionsBelow<Timeouts>({
  customTimeouts,
  ...lists
}: OfComponent<Timeouts> = {}): OptionsBelow<Timeouts> {
  const unused = new Set<string>();
  const pathsOf = (option: "ignoreChanges" | "replaceOnChanges"): OptionsBelow<Timeouts>["at"] => {
    const paths = (lists[option] ?? []).map((text) => ({
      text: `${option} names ${text}`,
      path: parsePath(text) ?? [],
    }));
    for (const { text } of paths) unused.add(text);
    return (place, others = []) => {
      const own = paths.filter(({ path }) => leads(path, place) && !others.includes(String(path[place.length])));
      for (const { text } of own) unused.delete(text);
      return own.length === 0 ? {} : { [option]: own.map(({ path }) => pathText(path.slice(place.length))) };
    };
  };
  const [ignored, replacing] = [pathsOf("ignoreChanges"), pathsOf("replaceOnChanges")];
  const timeouts = customTimeouts === undefined ? {} : { customTimeouts };
  return {
    at: (...of) => ({ ...timeouts, ...ignored(...of), ...replacing(...of) }),
    refusal: () => {
      const [first] = unused;
      if (first === undefined) return undefined;
      return `${first}, which is not a property of anything that the Environment declares: name one by its place, such as organizations.acme.name`;
    },
  };
}

/** True when a path leads through a place, and on from there. */
const leads = (path: PropertyPath, place: readonly string[]): boolean =>
  path.length > place.length && place.every((step, at) => path[at] === "*" || String(path[at]) === step);
