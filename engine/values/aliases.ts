import { makeUrn, nameOf, typeOf } from "./urns.ts";

/** A former name of a resource: its URN, or the parts of it that were others; empty ones are as they are now. */
export type Alias = string | AliasParts;

export interface AliasParts {
  name: string;
  type: string;
  stack: string;
  project: string;
  /** URN of its parent. */
  parent: string;
  noParent: boolean;
}

/** A resource as its program declares it, in a stack of a project. */
interface Named {
  stack: string;
  project: string;
  parent: string;
  type: string;
  name: string;
}

/**
 * The URNs that a resource may have had, in the order in which Pulumi looks for them. A parent that was found by an
 * alias has its children below its former URN. `before`: the former URN of a resource that was found by one.
 */
export function formerUrns(named: Named, aliases: readonly Alias[], before: ReadonlyMap<string, string>): string[] {
  const own = aliases.map((alias) => (typeof alias === "string" ? alias : urnOf(named, alias, before)));
  const parent = before.get(named.parent);
  if (parent === undefined) return own;
  const below = (type: string, name: string): string => {
    const former = nameOf(named.parent);
    // A name that begins with that of the parent was made of it.
    const then = name.startsWith(former) ? nameOf(parent) + name.slice(former.length) : name;
    return makeUrn(named.stack, named.project, parent, type, then);
  };
  return [...own, below(named.type, named.name), ...own.map((urn) => below(typeOf(urn), nameOf(urn)))];
}

function urnOf(named: Named, alias: AliasParts, before: ReadonlyMap<string, string>): string {
  const parent = alias.parent === "" ? named.parent : (before.get(alias.parent) ?? alias.parent);
  return makeUrn(
    alias.stack || named.stack,
    alias.project || named.project,
    alias.noParent ? "" : parent,
    alias.type || named.type,
    alias.name || named.name,
  );
}
