import { z } from "zod";
import { quote } from "../messages/text.ts";
import type { Diff } from "../resources/model/resource.ts";
import { factsOf } from "../resources/model/resource.ts";
import type { Resource } from "../resources/resource.ts";
import type { Properties } from "./properties.ts";
import { differAt, parsePath, type PropertyPath } from "./propertyPaths.ts";

/**
 * The input that carries options which the host of dynamic resources does not pass on: an engine passes them to plugins
 * alone, or applies them to answers that only plugins give.
 */
export const optionsInput = "__options";

/**
 * The input that carries what no host of dynamic resources gets from its engine. It is one, because each property of a
 * resource is dear to make; a check takes it apart, and no state has it.
 */
export const programInput = "__program";

const options = z.object({
  /** Property paths whose change makes a new thing. */
  replaceOnChanges: z.array(z.string()).default([]),
  /** Seconds that a create or an update may take. */
  timeouts: z.object({ create: z.number().optional(), update: z.number().optional() }).default({}),
  /** Names of the inputs that hold a secret, which its host gets in clear. */
  secrets: z.array(z.string()).default([]),
});
export type Options = z.input<typeof options>;

const none = options.parse({});

const fromProgram = z.object({
  resourceUrn: z.string().optional(),
  /** True when the program runs for a preview. */
  isPreview: z.boolean().optional(),
  /** As it was set: what a state remembers has no defaults. */
  options: z.unknown().optional(),
});

/** Content of {@link programInput}. */
export interface FromProgram {
  resourceUrn: string | Promise<string>;
  isPreview: boolean;
  options?: Options | Promise<Options | undefined>;
}

/** Takes what is not the resource's own out of a dynamic resource's inputs. */
export function withoutOptions({ [optionsInput]: last, [programInput]: program, ...own }: Properties): {
  inputs: Properties;
  options: z.output<typeof options>;
  /** The input by which a state remembers the options; empty where none is set. */
  kept: Properties;
  isPreview: boolean | undefined;
} {
  const {
    resourceUrn,
    isPreview,
    options: now = program === undefined ? last : undefined,
  } = program ? fromProgram.parse(program) : {};
  return {
    inputs: resourceUrn === undefined ? own : { ...own, resourceUrn },
    options: now ? options.parse(now) : none,
    kept: now === undefined ? {} : { [optionsInput]: now },
    isPreview,
  };
}

/**
 * The changed properties that `replaceOnChanges` names, which an engine finds by itself where a diff is as detailed as a
 * plugin's. A state is taken for the old inputs: it holds all but the rows, whose digest stands for them.
 */
export function findReplacements(
  { inputs, outputs }: Resource,
  replaceOnChanges: readonly string[],
  { changed }: Diff,
  old: Properties,
  news: Properties,
): string[] {
  if (replaceOnChanges.length === 0) return [];
  const paths = replaceOnChanges.flatMap((text) => [parsePath(text) ?? []]);
  const shape: Readonly<Record<string, unknown>> = { ...outputs.shape, ...inputs.shape };
  const isNamed = (name: string, [head, ...below]: PropertyPath): boolean => {
    const shown = factsOf(shape[name]).diffedAs ?? name;
    return (head === "*" || head === shown) && differs(name, shown, below);
  };
  const differs = (name: string, shown: string, below: PropertyPath): boolean =>
    // A resource may see a change where the values show none, of the whole property.
    below.length === 0 || (name === shown && differAt(below, old[name], news[name]));
  return changed.filter((name) => paths.some((path) => isNamed(name, path)));
}

/** The part of a resource that decides which options it takes. */
export type Definition = Pick<Resource, "name" | "inputs">;

/** Why `replaceOnChanges` can't be honoured by a dynamic resource, in one sentence. */
export function explainRefusedReplacements(resource: Definition, paths: readonly string[] = []): string | undefined {
  return firstOf(paths, (text) => {
    if (text === "#initerror") return undefined; // the engine's own
    const { wrong, list } = ignoredPath(resource, text);
    if (wrong !== undefined) return `replaceOnChanges ${wrong}`;
    if (list === undefined) return undefined;
    return `replaceOnChanges names ${text}, a part of ${list}, and the state tells of ${list} only whether they changed: name ${list}`;
  });
}

/** Why `ignoreChanges` can't be honoured, in one sentence: engines apply it before a resource has seen its inputs. */
export function explainRefusedIgnores(
  resource: Definition,
  paths: readonly string[] = [],
  inputs: Properties,
): string | undefined {
  return firstOf(paths, (text) => {
    const { wrong, list, head } = ignoredPath(resource, text);
    if (wrong !== undefined) return `ignoreChanges ${wrong}`;
    const instead =
      `set mode to "upsert", which removes no row, and leave a label out of the rows to leave its values alone, ` +
      `set mode to "insertOnly" to change no row that is there, or set onConflict to "keepLive" to keep what is edited by hand`;
    if (list !== undefined) return `ignoreChanges names ${text}, a part of ${list}, which can't be ignored: ${instead}`;
    if (factsOf(shapeOf(resource)[head]).keyedBy === undefined || inputs["source"] === undefined) return undefined;
    return `ignoreChanges names ${text}, and what is in a source can't be ignored: ${instead}`;
  });
}

/** Describes the problem of a path; or returns its first property, and the list that it names a part of. */
function ignoredPath(resource: Definition, text: string): { wrong?: string; head: string; list?: string } {
  const path = parsePath(text);
  const head = String(path?.[0]);
  if (!path) return { wrong: `has ${quote(text)}, which is no property path`, head };
  const shape = shapeOf(resource);
  const own = Object.keys(shape).filter((name) => !factsOf(shape[name]).computed);
  if (head !== "*" && !own.includes(head)) {
    return { wrong: `names ${text}, which is no input of ${resource.name}; it has ${own.join(", ")}`, head };
  }
  const list = own.find((name) => (head === "*" || head === name) && factsOf(shape[name]).keyedBy !== undefined);
  return path.length > 1 && list !== undefined ? { head, list } : { head };
}

const shapeOf = ({ inputs }: Definition): Readonly<Record<string, unknown>> => inputs.shape;

function firstOf(paths: readonly string[], reason: (path: string) => string | undefined): string | undefined {
  for (const path of paths) {
    const found = reason(path);
    if (found !== undefined) return found;
  }
  return undefined;
}
