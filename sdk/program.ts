import * as pulumi from "@pulumi/pulumi";
import { type LogicalName, topName } from "../provider/environment/things.ts";
import { listRemoved, type ProviderKind, providerKinds, readVariable } from "../provider/pulumi/configuration.ts";
import { providerType, typeThrough, urnsInStack, urnThrough } from "../provider/pulumi/names.ts";
import type { Announced } from "../provider/pulumi/otherSeeds.ts";
import { checkStackSettings } from "./stackSettings.ts";

/** The URN of a resource; of one without a parent known at once, since outputs and promises are dear to make. */
export type PlainUrn = string | Promise<string>;

/** State shared by the resources of one program. */
interface Program {
  /** The way into the provider that its resources take. */
  readonly providerKind: ProviderKind;
  /** Its seeds so far: none is sent before those that are constructed in the same turn are here. */
  seeds: Announced<PlainUrn>[];
}

const own: Program = {
  get providerKind() {
    return chooseProviderKind();
  },
  seeds: [],
};

/** What the resources of this process share. */
export const program = (): Program => own;

/**
 * A resource's own URN, never an output: that would make the resource depend on its parent, and a dependency on a
 * component is one on everything inside of it, siblings that wait for this resource included.
 */
export const toPlainUrn = (name: string, type: string, parent: pulumi.Resource | undefined): PlainUrn =>
  parent === undefined
    ? `urn:pulumi:${pulumi.getStack()}::${pulumi.getProject()}::${type}::${name}`
    : new Promise((resolve) => void pulumi.createUrn(name, type, parent).apply(resolve));

/**
 * The kind of provider that a program chooses for the classes: `microapps:providerKind` of the stack, dynamic resources by
 * default.
 */
function chooseProviderKind(): ProviderKind {
  checkStackSettings(); // what is quoted below is no secret
  const [gone] = listRemoved(process.env);
  if (gone !== undefined) throw new pulumi.RunError(gone);
  const chosen =
    readVariable(process.env, "providerKind") || pulumi.runtime.getConfig("microapps:providerKind") || "dynamic";
  const known = providerKinds.find((one) => one === chosen);
  if (known === undefined)
    throw new pulumi.RunError(`microapps:providerKind must be ${providerKinds.join(" or ")}, and is "${chosen}"`);
  return known;
}

/** The other way. */
export const other = (providerKind: ProviderKind): ProviderKind => (providerKind === "dynamic" ? "plugin" : "dynamic");

/**
 * The alias of a resource that was registered with the other kind of provider, so that it stays the same resource. All
 * types of its URN change at once, those of its parents too; the SDK derives no such alias from one of a type alone.
 */
export function throughOther(now: ProviderKind, urn: PlainUrn): pulumi.ResourceOptions {
  const through = (text: string): string => urnThrough(other(now), text);
  return { aliases: [typeof urn === "string" ? through(urn) : urn.then(through)] };
}

/** As {@link throughOther}, of a provider. */
export const providerThroughOther = (now: ProviderKind): pulumi.ResourceOptions => ({
  aliases: [{ type: providerType(other(now)) }],
});

/** Makes the option by which the engine finds a resource under what it was called before. */
export type Aliases = (
  kinds: readonly string[],
  name: LogicalName,
) => { aliases: pulumi.Input<string | pulumi.Alias>[] };

/**
 * Aliases of resources below a component: former names, and these with the other kind of provider, so that a program
 * may change from the class to the component of the plugin and back. `kinds` leads from the component down to the
 * resource.
 */
export function aliasesBelow(component: pulumi.Resource): Aliases {
  const above = component.urn.apply((urn) => urn.slice(0, urn.lastIndexOf("::")));
  return (kinds, { own, inherited, urns = [] }) => {
    const providerKind = other(program().providerKind);
    const types = kinds.map((kind) => `$${typeThrough(providerKind, kind)}`).join("");
    const others = [...own, ...inherited].map((name) => above.apply((urn) => `${urn}${types}::${name}`));
    const alone = urns.flatMap((urn) => urnsInStack(pulumi.getStack(), urn));
    return { aliases: [...own.map((name) => ({ name })), ...others, ...alone] };
  };
}

/** The name of the component that all others are below. */
export const rootName = (name: string, options: pulumi.ComponentResourceOptions | undefined): LogicalName =>
  topName(name, (options?.aliases ?? []).flatMap(nameIn));

/** The name in an alias, if it is known before the program has run. */
function nameIn(alias: pulumi.Input<pulumi.URN | pulumi.Alias>): string[] {
  if (typeof alias === "string") return [alias.slice(alias.lastIndexOf("::") + 2)];
  return "name" in alias && typeof alias.name === "string" ? [alias.name] : [];
}
