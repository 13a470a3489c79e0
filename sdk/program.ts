import * as pulumi from "@pulumi/pulumi";
import { AsyncLocalStorage } from "node:async_hooks";
import { dynamicType } from "../provider/pulumi/dynamicProvider.ts";
import type { LogicalName } from "./logicalNames.ts";
import type { Announced } from "./siblings.ts";

/** How the resources of a program reach their provider: as dynamic resources, or through the plugin. */
export type Door = "dynamic" | "plugin";

/** What the resources of one program share. */
interface Program {
  door: Door;
  /** Its seeds so far: none is sent before those that are constructed in the same turn are here. */
  seeds: Announced[];
}

// The plugin constructs components of one program, or of several, beside each other.
const programs = new AsyncLocalStorage<Program>();
const own: Program = { door: "dynamic", seeds: [] };

/** The program that a resource is constructed for: this process, unless it is the plugin. */
export const program = (): Program => programs.getStore() ?? own;

/** Runs the part of a program that the plugin carries out. */
export const throughPlugin = <Result>(work: () => Result): Result => programs.run({ door: "plugin", seeds: [] }, work);

/** The type token of a resource behind a door. */
export const typeBehind = (door: Door, name: string): string =>
  door === "dynamic" ? dynamicType(name) : `microapps:index:${name}`;

/** The type that a resource had before its program changed the door. */
export const typeBehindOther = (name: string): string =>
  typeBehind(program().door === "dynamic" ? "plugin" : "dynamic", name);

/**
 * A resource's own URN, as a promise: as an output it would make the resource depend on its parent, and a dependency on
 * a component is one on everything inside of it, siblings that wait for this resource included.
 */
export const plainUrn = (name: string, type: string, parent: pulumi.Resource | undefined): Promise<string> =>
  new Promise((resolve) => void pulumi.createUrn(name, type, parent).apply(resolve));

/** Makes the option by which the engine finds a resource under what it was called before. */
export type Aliases = (
  kinds: readonly string[],
  name: LogicalName,
) => { aliases: pulumi.Input<string | pulumi.Alias>[] };

/**
 * Aliases of what is below a component: former names, and all names behind the other door, so that a program may change
 * from the class to the component of the plugin and back. `kinds` leads from the component down to the resource.
 */
export function aliasesBelow(component: pulumi.Resource): Aliases {
  const above = component.urn.apply((urn) => urn.slice(0, urn.lastIndexOf("::")));
  return (kinds, { now, own, inherited }) => {
    const types = kinds.map((kind) => `$${typeBehindOther(kind)}`).join("");
    const others = [now, ...own, ...inherited].map((name) => above.apply((urn) => `${urn}${types}::${name}`));
    return { aliases: [...own.map((name) => ({ name })), ...others] };
  };
}
