import type { ProviderKind } from "./configuration.ts";

/** The package that serves the resources, as an engine names it. */
export const packageOf = (providerKind: ProviderKind): string =>
  providerKind === "dynamic" ? "pulumi-nodejs" : "microapps";

/** The type token of a provider resource. */
export const providerType = (providerKind: ProviderKind): string => `pulumi:providers:${packageOf(providerKind)}`;

/** The type token of a resource. */
export const typeThrough = (providerKind: ProviderKind, name: string): string =>
  providerKind === "dynamic" ? dynamicType(name) : `microapps:index:${name}`;

const tokens = /^(?:pulumi-nodejs:dynamic\/microapps|microapps:index):(\w+)$/;

/** The resource named by a type token of either provider kind; undefined for other packages. */
export const resourceOf = (type: string): string | undefined => tokens.exec(type)?.[1];

/** The URN of a resource as if it and its parents were registered with this kind of provider. */
export function urnThrough(providerKind: ProviderKind, urn: string): string {
  const [head = "", stack = "", types = "", ...rest] = urn.split("::");
  const through = types.split("$").map((type) => {
    const name = resourceOf(type);
    return name === undefined || isComponent(name) ? type : typeThrough(providerKind, name);
  });
  return [head, stack, through.join("$"), ...rest].join("::");
}

/** A former URN of a resource, with either kind of provider, in the stack of the run: a file serves several stacks. */
export function urnsInStack(stack: string, urn: string): string[] {
  const here = urn.replace(/^urn:pulumi:[^:]+/, `urn:pulumi:${stack}`);
  return [urnThrough("dynamic", here), urnThrough("plugin", here)];
}

/** True for the name of a component, whose type is the same for both kinds of provider. */
export const isComponent = (name: string): boolean => name === "Environment";

/** The type token of a dynamic resource. */
export const dynamicType = (name: string): string => `pulumi-nodejs:dynamic/microapps:${name}`;

/**
 * The constant that stands in the state as the provider of every dynamic resource of that type. The dynamic-provider host
 * evaluates it from the program's folder; a serialized closure would put kilobytes of code into the state of each resource.
 */
export const providerOf = (name: string): string =>
  `exports.handler=()=>require("pulumi-microapps/dynamic").handler("${name}")`;

/** The resource whose provider is the constant of `providerOf`; undefined for the code of others. */
export function findOwnResource(code: unknown): string | undefined {
  const [, name] = /\.handler\("(\w+)"\)$/.exec(String(code)) ?? [];
  return name !== undefined && code === providerOf(name) ? name : undefined;
}

/** The input of an explicit provider of dynamic resources by which their host knows that it is one. */
export const explicitInput = "microapps:explicitProvider";

const prefix = "microapps:";

/**
 * The settings of this package, by name, among the inputs of a provider or the configuration of a host: they stand under
 * `microapps:`, or, of an explicit provider of the plugin, without a package. What has that of others is theirs, and
 * `pulumi do` sends null for what is not set.
 */
export const pickOwnSettings = (values: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(values).flatMap(([key, value]) => {
      const isOurs = key !== explicitInput && (key.startsWith(prefix) || !key.includes(":"));
      return isOurs && value !== null ? [[key.replace(prefix, ""), value]] : [];
    }),
  );

/** Engines show no property whose name begins with it, on no screen. */
const mark = "__";

/** The name under which an engine gets a value that means nothing to a reader. */
export const toHiddenName = (name: string): string => mark + name;

/** Properties of any kind of resource under the names that people know. */
export const toShownNames = (values: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name.replace(/^__(?=[a-z])/, ""), value]));
