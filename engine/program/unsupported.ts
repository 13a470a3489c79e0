import type {
  ReadResourceRequest,
  RegisterResourceRequest,
  ResourceInvokeRequest,
} from "@pulumi/pulumi/proto/resource_pb.js";
import { Refusal } from "../errors.ts";
import { findUnsupported } from "../providers/packageVersions.ts";
import { refuseStateField } from "../state/checkpoint.ts";
import type { ResourceState } from "../state/resourceState.ts";
import { isProviderType, packageOf } from "../values/urns.ts";
import type { Project } from "../workspace/project.ts";

const instead = "run this program with the Pulumi CLI";

/** Refuses programs in other languages. */
export function refuseForeignRuntime({ file, runtime }: Project): void {
  if (runtime === "nodejs") return;
  throw new Refusal(
    `${file}: the embedded engine runs programs with 'runtime: nodejs', and 'runtime: yaml' with Environments alone, not ` +
      `'${runtime}': use the Pulumi CLI`,
  );
}

/**
 * Refuses a state that this engine could not continue, before anything is done.
 * @param packages those whose providers can be started
 */
export function refuseForeignState(resources: readonly ResourceState[], packages: ReadonlySet<string>): void {
  for (const { urn, type, custom, inputs } of resources) {
    const name = packageOf(type);
    if (custom && !packages.has(name)) throw new Refusal(`the state holds ${urn}: ${missingPlugin(name)}`);
    const note = isProviderType(type) ? findUnsupported(inputs) : undefined;
    if (note !== undefined) refuseStateField(note, urn);
  }
}

/** Describes the lack of a plugin for a package. */
function missingPlugin(name: string): string {
  if (name === "pulumi") return `the resources of Pulumi itself are not served by the embedded engine, ${instead}`;
  return (
    `no plugin for '${name}' is named in Pulumi.yaml: add its folder under 'plugins: {providers: [{name: ${name}, path: …}]}', ` +
    "or use the Pulumi CLI"
  );
}

/** Refuses the options of a read or a call that this engine does not support, by name. */
export function refusePackage(
  request: ReadResourceRequest | ResourceInvokeRequest,
  what: string,
  name: string,
  packages: ReadonlySet<string>,
): void {
  if (!packages.has(name)) throw new Refusal(`${what}: ${missingPlugin(name)}`);
  if (request.getPackageref() !== "" || request.getPlugindownloadurl() !== "") {
    const option = request.getPackageref() === "" ? "pluginDownloadURL" : "a package reference";
    throw new Refusal(`${what} uses '${option}', which the embedded engine does not do: ${instead}`);
  }
}

/** Refuses the options of a registration that this engine does not support, by name. */
export function refuseRegistration(request: RegisterResourceRequest, packages: ReadonlySet<string>): void {
  const type = request.getType();
  const resource = `resource '${request.getName()}' (${type})`;
  const name = packageOf(type);
  if (request.getCustom() && !packages.has(name)) throw new Refusal(`${resource}: ${missingPlugin(name)}`);
  const isTriggered = request.hasReplacementTrigger() && request.getReplacementTrigger()?.hasNullValue() !== true;
  const options: [string, boolean][] = [
    ["a component of a plugin", request.getRemote()],
    ["import", request.getImportid() !== ""],
    ["replaceWith", request.getReplaceWithList().length > 0],
    ["replacementTrigger", isTriggered],
    ["transforms", request.getTransformsList().length > 0],
    ["hooks", hasHooks(request)],
    ["pluginDownloadURL", request.getPlugindownloadurl() !== ""],
    ["a package reference", request.getPackageref() !== ""],
    ["envVarMappings", request.getEnvvarmappingsMap().getLength() > 0],
    ["snippet", request.getSnippetid() !== ""],
    ["state migrations", request.getStateMigrationsList().length > 0],
  ];
  const unsupported = options.find(([, is]) => is)?.[0];
  if (unsupported !== undefined) {
    throw new Refusal(`${resource} uses '${unsupported}', which the embedded engine does not do: ${instead}`);
  }
}

function hasHooks(request: RegisterResourceRequest): boolean {
  const hooks = request.getHooks()?.toObject() ?? {};
  return Object.values(hooks).some((names) => Array.isArray(names) && names.length > 0);
}
