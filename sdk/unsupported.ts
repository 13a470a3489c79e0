import * as pulumi from "@pulumi/pulumi";
import type { ProviderKind } from "../provider/pulumi/configuration.ts";
import { explainRefusedIgnores, type Definition } from "../provider/pulumi/properties.ts";

interface Ways {
  /** True when `adopt` takes over things made by others: organizations and teams are known by IDs of our own. */
  adopts?: true;
  /** The function that reads what exists. */
  ask?: string;
}

const ways: Readonly<Record<string, Ways>> = {
  Organization: { ask: "getOrganization" },
  Team: { ask: "getTeam" },
  TeamMember: { ask: "getTeamMembers" },
  TeamRoster: { adopts: true, ask: "getTeamMembers" },
  SeedRows: { adopts: true, ask: "getRows" },
  RowFile: { adopts: true },
  GeneratedApp: { ask: "getAppStatus" },
  AppReadiness: { ask: "getAppStatus" },
};

type Refused = keyof pulumi.CustomResourceOptions;

/** Options that do nothing for dynamic resources, since no engine hands them to their host, and what to do instead. */
const refused: { readonly [Name in Refused]?: (definition: Definition) => string } = {
  import: (definition) => insteadOf(definition),
  id: (definition) => insteadOf(definition),
  customTimeouts: () => "leave it out, or use the plugin (microapps:providerKind)",
  replaceOnChanges: () => "leave it out and replace by up --replace, or use the plugin (microapps:providerKind)",
  version: () => "the version is that of the package in node_modules",
  pluginDownloadURL: () => "the package is in node_modules, and nothing is downloaded",
};

/** Why an option can't be had with dynamic resources; undefined where all can. */
function explainRefused(definition: Definition, options: pulumi.CustomResourceOptions): string | undefined {
  const names = Object.keys(refused) as Refused[];
  const name = names.find((one) => {
    const value: unknown = options[one];
    return value !== undefined && !(Array.isArray(value) && value.length === 0);
  });
  return name && `the option ${name} does not reach dynamic resources: ${refused[name]?.(definition) ?? ""}`;
}

/** Members that are `deletedWith` a team would be left to its deletion, which refuses a team that has members. */
const explainLeftBehind = ({ name }: Definition, { deletedWith }: pulumi.CustomResourceOptions): string | undefined =>
  deletedWith && ["TeamMember", "TeamRoster"].includes(name)
    ? "deletedWith would leave people in a team, which is not deleted then: leave it out, they go before their team in any case"
    : undefined;

/** Throws a RunError when an option of a resource has no effect here, before anything is registered. */
export function permitOptions(
  providerKind: ProviderKind,
  definition: Definition,
  name: string,
  args: Readonly<Record<string, unknown>>,
  options: pulumi.CustomResourceOptions,
): void {
  const refusal =
    (providerKind === "dynamic" ? explainRefused(definition, options) : undefined) ??
    (providerKind === "dynamic" ? explainClearPeople(definition, args) : undefined) ??
    explainLeftBehind(definition, options) ??
    explainRefusedIgnores(definition, options.ignoreChanges, args);
  if (refusal !== undefined) throw new pulumi.RunError(`${definition.name} "${name}": ${refusal}`);
}

/** People of a file are read by the provider: with dynamic resources no engine marks them as secret in the state. */
function explainClearPeople({ name }: Definition, { sensitive, source }: Readonly<Record<string, unknown>>) {
  if (name !== "TeamRoster" || source === undefined || sensitive === undefined || sensitive === false) return undefined;
  return (
    "the people of source would be in plain text in the state, although sensitive is set: use the plugin (microapps:providerKind), " +
    "or pass them as a secret in members"
  );
}

/** Throws a RunError: a dynamic resource can't be looked up. */
export function refuseGet(definition: Definition, name: string): never {
  throw new pulumi.RunError(
    `${definition.name} "${name}": a dynamic resource can't be looked up by get: ${insteadOf(definition)}`,
  );
}

/** Names what to do instead of importing or looking up a resource by its ID. */
function insteadOf({ name }: Definition): string {
  const { adopts, ask } = ways[name] ?? {};
  const all = [
    `import it with "pulumi import --file" (see docs/guides/platform.md)`,
    ...(adopts ? ["declare it with adopt: true, which takes over what is there"] : []),
    ...(ask === undefined ? [] : [`ask ${ask} what is there`]),
  ];
  const last = all.at(-1) ?? "";
  return all.length === 1 ? last : `${all.slice(0, -1).join(", ")}, or ${last}`;
}
