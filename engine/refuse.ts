import type { RegisterResourceRequest } from "@pulumi/pulumi/proto/resource_pb.js";
import { Refusal } from "./errors.ts";
import { dynamicPackage, isProviderType, packageOf, stackType } from "./urns.ts";
import type { ResourceState } from "./state.ts";

const instead = "run this program with the Pulumi CLI";

/** A field of the state that belongs to a feature this engine lacks. */
export function refuseStateField(field: string, where: string): never {
  throw new Refusal(
    `the state of ${where} has '${field}', which the embedded engine does not know: use the Pulumi CLI`,
  );
}

/** Looks through the old state for what could not be carried on, before anything is done. */
export function refuseForeignState(resources: readonly ResourceState[]): void {
  for (const { urn, type, custom } of resources) {
    const name = packageOf(type);
    if (isProviderType(type) ? name !== dynamicPackage : custom && name !== dynamicPackage) {
      throw new Refusal(
        `the state holds ${urn}, of the provider '${name}': the embedded engine serves dynamic resources only, use the Pulumi CLI`,
      );
    }
  }
}

/** Refuses by name what a registration asks for and this engine does not do. */
export function refuseRegistration(request: RegisterResourceRequest): void {
  const type = request.getType();
  const resource = `resource '${request.getName()}' (${type})`;
  const name = packageOf(type);
  if (request.getRemote()) {
    throw new Refusal(`${resource} is a remote component, which the embedded engine does not construct: ${instead}`);
  }
  if (isProviderType(type) ? name !== dynamicPackage : request.getCustom() && name !== dynamicPackage) {
    throw new Refusal(
      `${resource} needs the provider plugin '${name}', and the embedded engine serves dynamic resources only: ${instead}`,
    );
  }
  const options: [string, boolean][] = [
    ["import", request.getImportid() !== ""],
    ["replaceWith", request.getReplaceWithList().length > 0],
    ["replacementTrigger", request.hasReplacementTrigger() && request.getReplacementTrigger()?.hasNullValue() !== true],
    ["transforms", request.getTransformsList().length > 0],
    ["hooks", hasHooks(request)],
    ["version", request.getVersion() !== "" && type !== stackType && isProviderType(type)],
    ["pluginDownloadURL", request.getPlugindownloadurl() !== ""],
    ["a package reference", request.getPackageref() !== ""],
    ["envVarMappings", request.getEnvvarmappingsMap().getLength() > 0],
    ["snippet", request.getSnippetid() !== ""],
    ["state migrations", request.getStateMigrationsList().length > 0],
  ];
  const asked = options.find(([, is]) => is)?.[0];
  if (asked !== undefined) {
    throw new Refusal(`${resource} uses '${asked}', which the embedded engine does not do: ${instead}`);
  }
}

function hasHooks(request: RegisterResourceRequest): boolean {
  const hooks = request.getHooks()?.toObject() ?? {};
  return Object.values(hooks).some((names) => Array.isArray(names) && names.length > 0);
}
