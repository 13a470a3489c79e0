import type * as pulumi from "@pulumi/pulumi";
import { typeThrough } from "../provider/pulumi/doors.ts";
import { other, program } from "./program.ts";

/**
 * Name of a resource in the stack, and the names that it had before, from its own former keys and its parents'.
 * An alias differs from the URN in its name alone, since a URN has the types of the parents and not their names.
 */
export interface LogicalName {
  now: string;
  /** Former names that the resource needs aliases for. */
  own: readonly string[];
  /** Former names that need none: the SDK derives them from the aliases of the parent. */
  inherited: readonly string[];
}

/** The name of the component that all others are below. */
export const rootName = (name: string, options: pulumi.ComponentResourceOptions | undefined): LogicalName => ({
  now: name,
  own: (options?.aliases ?? []).flatMap(nameIn),
  inherited: [],
});

/** The name in an alias, as far as it is known before the program has run. */
function nameIn(alias: pulumi.Input<pulumi.URN | pulumi.Alias>): string[] {
  if (typeof alias === "string") return [alias.slice(alias.lastIndexOf("::") + 2)];
  return "name" in alias && typeof alias.name === "string" ? [alias.name] : [];
}

/**
 * The name of a resource below a parent. The SDK derives aliases from the parent's own, but not from those that the
 * parent has inherited: these become aliases here. Others must not, because the SDK would derive from them once more.
 */
export function nameBelow(parent: LogicalName, key: string, former: readonly string[] = []): LogicalName {
  const keys = [key, ...former];
  const below = (names: readonly string[]): string[] => names.flatMap((name) => keys.map((each) => `${name}/${each}`));
  return {
    now: `${parent.now}/${key}`,
    own: [...former.map((each) => `${parent.now}/${each}`), ...below(parent.inherited)],
    inherited: below(parent.own),
  };
}

/** Makes the option by which the engine finds a resource under what it was called before. */
export type Aliases = (
  kinds: readonly string[],
  name: LogicalName,
) => { aliases: pulumi.Input<string | pulumi.Alias>[] };

/**
 * Aliases of what is below a component: former names, and these through the other door, so that a program may change from
 * the class to the component of the plugin and back. `kinds` leads from the component down to the resource.
 */
export function aliasesBelow(component: pulumi.Resource): Aliases {
  const above = component.urn.apply((urn) => urn.slice(0, urn.lastIndexOf("::")));
  return (kinds, { own, inherited }) => {
    const door = other(program().door);
    const types = kinds.map((kind) => `$${typeThrough(door, kind)}`).join("");
    const others = [...own, ...inherited].map((name) => above.apply((urn) => `${urn}${types}::${name}`));
    return { aliases: [...own.map((name) => ({ name })), ...others] };
  };
}
