import { newState, type ResourceState } from "../state/resourceState.ts";
import type { Alias } from "../values/aliases.ts";
import { typeOf } from "../values/urns.ts";
import type { PropertyMap } from "../values/values.ts";

type Read = "type" | "inputs" | "parent" | "provider" | "dependencies" | "additionalSecretOutputs";
type Managed = "custom" | "propertyDependencies" | "deletedWith" | "ignoreChanges" | "replaceOnChanges" | "hideDiff";

/** An existing resource that the program reads. */
export interface ReadGoal extends Pick<ResourceState, Read | "id"> {
  name: string;
}

/** A resource as the program wants it. The provider of components and of providers is empty. */
export interface Goal extends Pick<ResourceState, Read | Managed | "customTimeouts"> {
  name: string;
  /** Default: as the parent has it. */
  protect: boolean | undefined;
  retainOnDelete: boolean | undefined;
  deleteBeforeReplace: boolean | undefined;
  aliases: Alias[];
}

export function providerGoal(type: string, name: string, inputs: PropertyMap): Goal {
  const unset = { protect: undefined, retainOnDelete: undefined, deleteBeforeReplace: undefined, aliases: [] };
  return { ...newState({ urn: "", type, custom: true, inputs }), ...unset, name };
}

/** Makes the state that a goal asks for. `alias`: the URN that the resource had before. */
export function stateOfGoal(goal: Goal, urn: string, alias: string | undefined): ResourceState {
  const { name: _name, deleteBeforeReplace: _order, protect = false, retainOnDelete = false, ...wanted } = goal;
  const aliases = alias === undefined ? [] : [alias];
  return newState({ ...wanted, urn, type: typeOf(urn), protect, retainOnDelete, aliases });
}
