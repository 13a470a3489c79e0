import type { Path } from "../values/paths.ts";
import { parseReference } from "../values/urns.ts";
import type { PropertyMap } from "../values/values.ts";

/** Seconds; absent where the provider decides. */
export interface Timeouts {
  create?: number;
  update?: number;
  delete?: number;
  read?: number;
}

/** One resource as the state records it. Steps change these objects in place: the snapshot holds the same ones. */
export interface ResourceState {
  urn: string;
  type: string;
  custom: boolean;
  id: string;
  inputs: PropertyMap;
  outputs: PropertyMap;
  parent: string;
  provider: string;
  dependencies: string[];
  propertyDependencies: Record<string, string[]>;
  protect: boolean;
  /** To be replaced by the next update, whatever changes. */
  taint: boolean;
  external: boolean;
  retainOnDelete: boolean;
  deletedWith: string;
  /** Replaced, and to be deleted at the end of the run or of the next one. */
  delete: boolean;
  /** Deleted, and to be created again. */
  pendingReplacement: boolean;
  initErrors: string[];
  additionalSecretOutputs: string[];
  customTimeouts: Timeouts;
  ignoreChanges: string[];
  replaceOnChanges: string[];
  hideDiff: Path[];
  importID: string;
  /** True if its provider wants it read before each preview and update. */
  refreshBeforeUpdate: boolean;
  created: string;
  modified: string;
  /** The URN that this resource had before. It is never written: each write rewrites the references to it. */
  aliases: string[];
}

export function newState(
  fields: Pick<ResourceState, "urn" | "type" | "custom"> & Partial<ResourceState>,
): ResourceState {
  return {
    id: "",
    inputs: {},
    outputs: {},
    parent: "",
    provider: "",
    dependencies: [],
    propertyDependencies: {},
    protect: false,
    taint: false,
    external: false,
    retainOnDelete: false,
    deletedWith: "",
    delete: false,
    pendingReplacement: false,
    initErrors: [],
    additionalSecretOutputs: [],
    customTimeouts: {},
    ignoreChanges: [],
    replaceOnChanges: [],
    hideDiff: [],
    importID: "",
    refreshBeforeUpdate: false,
    created: "",
    modified: "",
    aliases: [],
    ...fields,
  };
}

export type OperationType = "creating" | "updating" | "deleting" | "reading" | "importing";

/** An operation that has begun. One that is found in the state was interrupted. */
export interface Operation {
  type: OperationType;
  resource: ResourceState;
}

/** The URNs that a resource needs besides its parent: dependencies, what it is deleted with, its provider. */
export function listNeeds(state: ResourceState): Set<string> {
  const urns = new Set([...state.dependencies, ...Object.values(state.propertyDependencies).flat()]);
  if (state.deletedWith !== "") urns.add(state.deletedWith);
  if (state.provider !== "") urns.add(parseReference(state.provider).urn);
  return urns;
}
