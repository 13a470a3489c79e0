import { newState, type ResourceState, type Timeouts } from "../state/resourceState.ts";
import type { Alias } from "../values/aliases.ts";
import type { Path } from "../values/paths.ts";
import { typeOf } from "../values/urns.ts";
import type { PropertyMap } from "../values/values.ts";

/** A resource as the program wants it. */
export interface Goal {
  type: string;
  name: string;
  custom: boolean;
  inputs: PropertyMap;
  parent: string;
  /** Reference of its provider; empty for components and providers. */
  provider: string;
  dependencies: string[];
  propertyDependencies: Record<string, string[]>;
  /** Default: as the parent has it. */
  protect: boolean | undefined;
  retainOnDelete: boolean | undefined;
  deletedWith: string;
  deleteBeforeReplace: boolean | undefined;
  ignoreChanges: string[];
  replaceOnChanges: string[];
  additionalSecretOutputs: string[];
  aliases: Alias[];
  customTimeouts: Timeouts;
  hideDiff: Path[];
}

/** An existing resource that the program reads. */
export interface ReadGoal extends Pick<
  Goal,
  "type" | "name" | "inputs" | "parent" | "provider" | "dependencies" | "additionalSecretOutputs"
> {
  id: string;
}

/** Makes the goal of a default provider. */
export function providerGoal(type: string, name: string, inputs: PropertyMap): Goal {
  return {
    type,
    name,
    custom: true,
    inputs,
    parent: "",
    provider: "",
    dependencies: [],
    propertyDependencies: {},
    protect: undefined,
    retainOnDelete: undefined,
    deletedWith: "",
    deleteBeforeReplace: undefined,
    ignoreChanges: [],
    replaceOnChanges: [],
    additionalSecretOutputs: [],
    aliases: [],
    customTimeouts: {},
    hideDiff: [],
  };
}

/** Makes the state that a goal asks for. `alias`: the URN that the resource had before. */
export function stateOfGoal(goal: Goal, urn: string, alias: string | undefined): ResourceState {
  return newState({
    urn,
    type: typeOf(urn),
    custom: goal.custom,
    inputs: goal.inputs,
    parent: goal.parent,
    provider: goal.provider,
    dependencies: goal.dependencies,
    propertyDependencies: goal.propertyDependencies,
    protect: goal.protect ?? false,
    retainOnDelete: goal.retainOnDelete ?? false,
    deletedWith: goal.deletedWith,
    additionalSecretOutputs: goal.additionalSecretOutputs,
    customTimeouts: goal.customTimeouts,
    ignoreChanges: goal.ignoreChanges,
    replaceOnChanges: goal.replaceOnChanges,
    hideDiff: goal.hideDiff,
    aliases: alias === undefined ? [] : [alias],
  });
}
