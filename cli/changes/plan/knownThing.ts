import type { DeclaredThing } from "../../../provider/environment/things/things.ts";
import type { Properties } from "../../../provider/pulumi/properties.ts";
import { toPlannedUrn } from "../../../provider/resources/model/identities.ts";
import type { Resource } from "../../../provider/resources/resource.ts";
import { resourceNamed } from "../../../provider/resources/resources.ts";

/** A thing before a run: of a state, or of a declaration with the outputs its creation would have left. */
export interface KnownThing {
  /** Type, and name below the Environment. */
  key: string;
  kind: string;
  name: string;
  id: string;
  /** The inputs of the last run. */
  inputs: Properties;
  /** Outputs of the last run, inputs included. */
  outputs: Properties;
  isUnfinished?: boolean;
  /** True if rows are read before they go, since other seeds may come that nobody knows of: through the plugin. */
  keepsCells?: boolean;
  /** How it was declared, where it is of a declaration. */
  thing?: DeclaredThing;
  /** The rows that were applied: all of them, or none, since nobody can read them here. */
  rows?: "all" | "none";
  /** Why it is none of them. */
  why?: string;
  /** Secrets of the state, which are taken to be what is declared. */
  sealed?: readonly string[];
  /** Inputs that a plan is made with in place of those of the program. */
  unknowns?: Properties;
}

export const urnOf = (kind: string, name: string): string => toPlannedUrn(kind, name.replace(/^\//, ""));

export const resourceOf = (kind: string): Resource => {
  const found = resourceNamed(kind);
  if (!found) throw new Error(`there is no ${kind}`);
  return found;
};
