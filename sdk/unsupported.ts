import * as pulumi from "@pulumi/pulumi";
import type { ProviderKind } from "../provider/pulumi/configuration/configuration.ts";
import { explainRefusedIgnores, explainRefusedReplacements, type Definition } from "../provider/pulumi/options.ts";
import { parsePath, pathText, type PropertyPath } from "../provider/pulumi/propertyPaths.ts";

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

/** Throws a RunError when an option of a resource has no effect here, before anything is registered. */
export function permitOptions(
  providerKind: ProviderKind,
  definition: Definition,
  name: string,
  args: Readonly<Record<string, unknown>>,
  options: pulumi.CustomResourceOptions,
): void {
  const { ignoreChanges, replaceOnChanges } = options;
  const found = options.import !== undefined ? "import" : options.id !== undefined ? "id" : undefined;
  const refusal =
    (providerKind === "dynamic" && found !== undefined
      ? `the option ${found} is for plugins: ${insteadOf(definition)}`
      : undefined) ??
    (providerKind === "dynamic" ? explainClearPeople(definition, args) : undefined) ??
    explainRefusedIgnores(definition, ignoreChanges, args) ??
    explainRefusedReplacements(definition, replaceOnChanges);
  if (refusal !== undefined) throw new pulumi.RunError(`${definition.name} "${name}": ${refusal}`);
}

/** People of a file are read by the provider: with dynamic resources no engine marks them as secret in the state. */
function explainClearPeople({ name }: Definition, { sensitive, source }: Readonly<Record<string, unknown>>) {
  if (name !== "TeamRoster" || source === undefined || sensitive === undefined || sensitive === false) return undefined;
  return (
    "the people of source would stand in clear in the state, though sensitive is set: use the plugin (microapps:providerKind), " +
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

type OfComponent = Pick<pulumi.ComponentResourceOptions, "ignoreChanges" | "replaceOnChanges" | "customTimeouts">;

/** Options of a component as they are for what is below it. */
export interface OptionsBelow {
  /** Those of the thing at a place of the declaration. `others` are names there that are things of their own. */
  at: (place: readonly string[], others?: readonly string[]) => OfComponent;
  /** Throws a RunError for a path that is of nothing that was asked for. */
  assertUsed: () => void;
}

/**
 * Hands on what no engine does for a component, which has no properties of its own to ignore: paths begin with the place
 * in the declaration, such as `organizations.acme.name`, and each thing gets the rest of its own.
 */
export function optionsBelow({ customTimeouts, ...lists }: OfComponent = {}): OptionsBelow {
  const unused = new Set<string>();
  const pathsOf = (
    option: "ignoreChanges" | "replaceOnChanges",
  ): ((...of: Parameters<OptionsBelow["at"]>) => OfComponent) => {
    const paths = (lists[option] ?? []).map((text) => ({
      text: `${option} names ${text}`,
      path: parsePath(text) ?? [],
    }));
    for (const { text } of paths) unused.add(text);
    return (place, others = []) => {
      const own = paths.filter(({ path }) => leads(path, place) && !others.includes(String(path[place.length])));
      for (const { text } of own) unused.delete(text);
      return own.length === 0 ? {} : { [option]: own.map(({ path }) => pathText(path.slice(place.length))) };
    };
  };
  const [ignored, replacing] = [pathsOf("ignoreChanges"), pathsOf("replaceOnChanges")];
  const timeouts = customTimeouts === undefined ? {} : { customTimeouts };
  return {
    at: (...of) => ({ ...timeouts, ...ignored(...of), ...replacing(...of) }),
    assertUsed: () => {
      const [first] = unused;
      if (first === undefined) return;
      throw new pulumi.RunError(
        `${first}, which is no property of what the Environment declares: name one by its place, such as organizations.acme.name`,
      );
    },
  };
}

/** True when a path leads through a place, and on from there. */
const leads = (path: PropertyPath, place: readonly string[]): boolean =>
  path.length > place.length && place.every((step, at) => path[at] === "*" || String(path[at]) === step);
