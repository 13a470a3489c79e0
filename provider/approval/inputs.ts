import { relative, resolve } from "node:path";
import type { z } from "zod";
import { factsOf } from "../resources/model/resource.ts";
import type { Resource } from "../resources/resource.ts";
import { digestOf } from "./canonical.ts";
import type { SealedResource } from "./seal.ts";

type Values = Readonly<Record<string, unknown>>;

/** Inputs of rows, for which the ledger of a state stands. */
const rowInputs = ["rows", "source", "additions", "changes", "removals"];

/** Names of the links that a resource has. */
const linksOf = ({ inputs }: Resource): string[] =>
  Object.entries(inputs.shape).flatMap(([name, schema]) => (factsOf(schema).link ? [name] : []));

/** Where files of a program are. */
export interface ApprovalContext {
  /** The program's folder. */
  folder: string;
  /** The folder of Pulumi.yaml, which paths in a seal begin at. */
  project: string;
}

/**
 * The digest of what a resource is declared with, links and what is excepted left out. Undefined as long as a part of it
 * is not known.
 */
export function digestDeclared(
  resource: Resource,
  inputs: Values,
  except: readonly string[],
  context: ApprovalContext,
  isUnknown: (value: unknown) => boolean = () => false,
): string | undefined {
  const values: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(resource.inputs.shape)) {
    const { computed, internal, link } = factsOf(schema);
    if (computed || internal || link || except.includes(name)) continue;
    if (isUnknown(inputs[name])) return undefined;
    values[name] = name === "source" ? pathOf(inputs[name], context) : normal(schema, inputs[name]);
  }
  // A day decides it rather than the declaration, and somebody leaves by it.
  if (inputs["ended"] === true) values["ended"] = true;
  return digestOf([resource.name, values]);
}

/** Digests a resource of a state, which an update starts from. */
export function digestApplied(resource: Resource, state: Values, except: readonly string[]): string {
  const values: Record<string, unknown> = { ledger: state["ledger"] ?? undefined };
  for (const [name, schema] of Object.entries(resource.inputs.shape)) {
    const { computed, internal, writeOnly } = factsOf(schema);
    if (computed || internal || writeOnly || except.includes(name)) continue;
    if (!rowInputs.includes(name)) values[name] = state[name] ?? undefined;
  }
  return digestOf([resource.name, values]);
}

/** Inputs of which no digest may be made, since they are secrets or become known to a stack alone, with what follows them. */
export function listExcepted(resource: Resource, names: Iterable<string>, isSensitive: boolean): string[] {
  const chosen = new Set(names);
  const shape: Values = resource.inputs.shape;
  for (const [name, schema] of Object.entries(shape)) {
    const marked = [factsOf(schema).marksSecret ?? []].flat();
    if (isSensitive) for (const one of marked) chosen.add(one);
    // Only a stack knows which values of the configuration are secrets.
    if (marked.some((one) => chosen.has(one))) chosen.add(name);
  }
  return Object.keys(shape).filter((name) => chosen.has(name) && !factsOf(shape[name]).computed);
}

/** Returns the first link of a resource that differs from its seal. `idOf` finds the IDs that another resource has. */
export function wrongLink(
  resource: Resource,
  { links = {} }: SealedResource,
  inputs: Values,
  idsOf: (key: string) => readonly string[] | undefined,
  isUnknown: (value: unknown) => boolean,
): string | undefined {
  return linksOf(resource).find((name) => {
    if (isUnknown(inputs[name])) return false;
    const wanted = links[name] ?? [];
    const found = inputs[name] === undefined || inputs[name] === null ? [] : [inputs[name]].flat();
    if (found.length !== wanted.length) return true;
    return wanted.some(({ of, id }, at) => {
      const one: unknown = found[at];
      if (isUnknown(one)) return false;
      return of === undefined ? one !== id : !(typeof one === "string" && idsOf(of)?.includes(one));
    });
  });
}

/** A path that is equal for a report and a program, wherever the program lies in the project. */
const pathOf = (path: unknown, { folder, project }: ApprovalContext): unknown =>
  typeof path === "string" ? relative(project, resolve(folder, path)).replaceAll("\\", "/") : path;

/** A value as a resource gets it, completed with its default. */
function normal(schema: unknown, value: unknown): unknown {
  const parsed = (schema as z.ZodType).safeParse(value ?? undefined);
  return parsed.success ? parsed.data : value;
}
