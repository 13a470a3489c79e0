import * as pulumi from "@pulumi/pulumi";
import type { Door } from "../provider/pulumi/configuration/configuration.ts";
import { refusedIgnores, refusedReplacements, type Definition } from "../provider/pulumi/options.ts";

interface Ways {
  /** Whether `adopt` takes over what somebody else made: organizations and teams are known by IDs of our own. */
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
  door: Door,
  definition: Definition,
  name: string,
  args: Readonly<Record<string, unknown>>,
  options: pulumi.CustomResourceOptions,
): void {
  const { ignoreChanges, replaceOnChanges } = options;
  const found = options.import !== undefined ? "import" : options.id !== undefined ? "id" : undefined;
  const refusal =
    (door === "dynamic" && found !== undefined
      ? `the option ${found} is for plugins: ${insteadOf(definition)}`
      : undefined) ??
    refusedIgnores(definition, ignoreChanges, args) ??
    refusedReplacements(definition, replaceOnChanges);
  if (refusal !== undefined) throw new pulumi.RunError(`${definition.name} "${name}": ${refusal}`);
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
