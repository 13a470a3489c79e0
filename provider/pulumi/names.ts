import { createHash, randomBytes } from "node:crypto";
import { quote } from "../../platform/messages/text.ts";
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

/** A resource as people know it: `TeamMember "ada"`. */
export interface NamedResource {
  kind: string;
  name: string;
  /** How an Environment file has it: `member "acme/crew/ada@example.com"`. */
  inFile?: string;
}

/** The kind and name in a URN. */
export function readName(urn: string): NamedResource {
  const [, , chain = "", ...names] = urn.split("::");
  const types = chain.split("$");
  const [kind, name] = [types.at(-1)?.split(":").at(-1) ?? "", names.join("::")];
  const word = types.slice(0, -1).includes(environmentType) ? words[kind] : undefined;
  return word === undefined ? { kind, name } : { kind, name, inFile: `${word} ${quote(nameInFile(kind, name))}` };
}

/** The component that an Environment file is. */
export const environmentType = "microapps:index:Environment";

/** Words of an Environment file for the kinds of its things. */
const words: Readonly<Record<string, string>> = {
  ...{ Organization: "organization", Team: "team", TeamMember: "member", TeamRoster: "roster" },
  ...{ GeneratedApp: "app", AppReadiness: "app", SeedRows: "seed", RowFile: "file", Notification: "notification" },
};

/** A name without that of the Environment, and without what the file does not have. */
const nameInFile = (kind: string, name: string): string => {
  const below = name.slice(name.indexOf("/") + 1);
  if (kind === "TeamRoster") return below.replace(/\/roster$/, "");
  return kind === "AppReadiness" ? below.replace(/-ready$/, "") : below;
};

export const describeNamed = ({ kind, name, inFile }: NamedResource): string => inFile ?? `${kind} ${quote(name)}`;

/** The URN that a thing of an Environment has where no engine gives it one. */
export const toPlannedUrn = (kind: string, name: string): string =>
  `urn:pulumi:plan::plan::${environmentType}$microapps:index:${kind}::environment/${name}`;

/** Why two resources that have one ID are refused. */
export const oneThing = (one: NamedResource, other: NamedResource, id: string): string =>
  `${describeNamed(one)} and ${describeNamed(other)} are one thing on the platform: both have the ID ${id}. ` +
  `Remove one of them from the program; what is on the platform stays. If one was renamed, keep that one, with aliases.`;

const letters = "23456789ABCDEFGHJKLMNPQRSTWXYZabcdefghijkmnopqrstuvwxyz";

/**
 * The ID under which a resource creates its thing: derived from its URN and the inputs that force replacement, so that
 * a later run that remembers nothing still finds what an interrupted one made. Without a URN (an import by hand) the
 * platform chooses.
 */
export function chosenID(urn: string | undefined, ...parts: string[]): string | undefined {
  if (urn === undefined) return undefined;
  const digest = createHash("sha256")
    .update(JSON.stringify([urn, ...parts]))
    .digest();
  return lettersOf(digest);
}

/** A random ID. */
export const randomID = (): string => lettersOf(randomBytes(24));

/** 24 letters of 55: 138 bits. */
const lettersOf = (bytes: Buffer): string =>
  Array.from(bytes.subarray(0, 24), (byte) => letters[byte % letters.length] ?? "").join("");
