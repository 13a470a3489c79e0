import * as pulumi from "@pulumi/pulumi";
import { refusedIgnores, refusedReplacements, type Definition } from "../provider/pulumi/options.ts";

/** The functions that tell what is there, where one does. */
const functions: Readonly<Record<string, string>> = {
  Organization: "getOrganization",
  Team: "getTeam",
  TeamMember: "getTeamMembers",
  TeamRoster: "getTeamMembers",
  SeedRows: "getRows",
  GeneratedApp: "getAppStatus",
  AppReadiness: "getAppStatus",
};

/** Throws when an option of a resource can't be honoured, before anything is registered. */
export function permitOptions(
  definition: Definition,
  name: string,
  args: Readonly<Record<string, unknown>>,
  options: pulumi.CustomResourceOptions,
): void {
  const { ignoreChanges, replaceOnChanges } = options;
  const found = options.import !== undefined ? "import" : options.id !== undefined ? "id" : undefined;
  const refusal =
    (found && `the option ${found} is for plugins: ${insteadOf(definition)}`) ??
    refusedIgnores(definition, ignoreChanges, args) ??
    refusedReplacements(definition, replaceOnChanges);
  if (refusal !== undefined) throw new pulumi.RunError(`${definition.name} "${name}": ${refusal}`);
}

/** Throws: a dynamic resource is not looked up. */
export function refuseGet(definition: Definition, name: string): never {
  throw new pulumi.RunError(
    `${definition.name} "${name}": a dynamic resource can't be looked up by get: ${insteadOf(definition)}`,
  );
}

/** What to do instead of taking or looking up something that exists by its ID. */
function insteadOf({ name, inputs }: Definition): string {
  const ways = [
    `import it with "pulumi import --file" (see "Import and dump" in the README)`,
    ...("adopt" in inputs.shape ? ["declare it with adopt: true, which takes over what is there"] : []),
    ...(functions[name] === undefined ? [] : [`ask ${functions[name]} what is there`]),
  ];
  const last = ways.at(-1) ?? "";
  return ways.length === 1 ? last : `${ways.slice(0, -1).join(", ")}, or ${last}`;
}
