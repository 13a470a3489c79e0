import {
  containsSecret,
  decodeResource,
  type PropertyMap,
  type PropertyValue,
  type ResourceState,
} from "../../engine/decide.ts";
import { BoundError, checkJsonBounds, ofStates } from "../../machine/bounds.ts";
import { isObject } from "../../platform/contract/wire.ts";
import { resourceOf, toShownNames, urnThrough } from "../../provider/pulumi/names.ts";
import { unknownValue } from "../../provider/pulumi/properties.ts";

/** A resource as a state has it. */
export interface StateResource {
  /** The last part of its type, such as Team. */
  kind: string;
  /** The last part of its URN. */
  name: string;
  id: string;
  /** Applied values, inputs included. Secrets are marked; their values are known only where the state was exported in clear. */
  values: Readonly<Record<string, unknown>>;
}

/** A resource of which an engine can go on. */
export interface WholeResource extends StateResource {
  /** All of it, under its URN below an Environment with the plugin, and values under the names that people know. */
  state: ResourceState;
}

/** A state without secrets. */
export interface StackState {
  resources: WholeResource[];
  /** Resources that a run was working on when it was interrupted. */
  interrupted: number;
}

/** Why a text is no state. */
export class StateError extends Error {}

/** Reads a state file of a backend, or what `stack export` prints: what is ours of it. Ciphertext stays what it is. */
export function stateOf(text: string): StackState {
  const { resources, pending_operations: operations } = deploymentIn(text);
  return {
    resources: Array.isArray(resources) ? resources.flatMap(resourceIn) : [],
    interrupted: Array.isArray(operations) ? operations.length : 0,
  };
}

/** The deployment of a text, as engines write it. Throws a StateError. */
export function deploymentIn(text: string): Readonly<Record<string, unknown>> {
  const raw = parsed(text);
  const { deployment, checkpoint } = isObject(raw) ? raw : {};
  const latest = deployment ?? (isObject(checkpoint) ? (checkpoint["latest"] ?? {}) : undefined);
  if (isObject(latest)) return latest;
  throw new StateError("it is neither a state file nor what 'stack export' prints");
}

function parsed(text: string): unknown {
  try {
    checkJsonBounds(text, ofStates);
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new StateError(error instanceof BoundError ? `it ${error.message}` : "it is not JSON");
  }
}

/** Without the passphrase a secret is one whose value is not known. */
const sealed = { decryptAt: () => JSON.stringify(unknownValue) };

function resourceIn(raw: unknown): WholeResource[] {
  const { type } = isObject(raw) ? raw : {};
  if (!isObject(raw) || typeof type !== "string" || raw["delete"] === true) return [];
  const kind = resourceOf(type);
  if (kind === undefined) return [];
  const read = decodeResource(raw, sealed);
  const [inputs, outputs] = [toShownNames(read.inputs) as PropertyMap, toShownNames(read.outputs) as PropertyMap];
  const [urn, ...needs] = [read.urn, ...read.dependencies].map(belowEnvironment);
  const byProperty = Object.entries(read.propertyDependencies).map(([name, all]) => [name, all.map(belowEnvironment)]);
  const propertyDependencies = Object.fromEntries(byProperty) as Record<string, string[]>;
  const state = { ...read, inputs, outputs, urn: urn ?? "", dependencies: needs, propertyDependencies };
  const name = read.urn.split("::").slice(3).join("::");
  return [
    {
      kind,
      name,
      id: read.id,
      // A file that only moved changes no output.
      values: { ...inputs, ...outputs, ...("source" in inputs && { source: inputs["source"] }) },
      state,
    },
  ];
}

/** A URN as the plugin has it, without what a program has its Environment in. */
function belowEnvironment(urn: string): string {
  const [head, stack, types = "", ...name] = urnThrough("plugin", urn).split("::");
  const all = types.split("$");
  return [head, stack, all.slice(Math.max(0, all.indexOf("microapps:index:Environment"))).join("$"), ...name].join(
    "::",
  );
}

/** True if a value is, or holds, a secret. */
export const holdsSecret = (value: unknown): boolean => containsSecret((value ?? null) as PropertyValue); // of a state
