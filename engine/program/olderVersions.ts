import providerProto from "@pulumi/pulumi/proto/provider_pb.js";
import resourceProto from "@pulumi/pulumi/proto/resource_pb.js";
import type {
  RegisterResourceRequest,
  ResourceInvokeRequest,
  ResourceInvokeResponse,
  ResourceMonitorFeature,
} from "@pulumi/pulumi/proto/resource_pb.js";

// The messages are those of the @pulumi/pulumi that the project has installed; its types are of the newest one.

const { ResourceMonitorFeature: numbers, ResourceInvokeResponse: Response } = resourceProto as Partial<
  typeof resourceProto
>;

/**
 * Features that this engine has, or refuses by name. Older SDKs ask for each by these names; without an answer for
 * transforms and hooks the SDK would call the Pulumi CLI too old.
 */
export const featureNames: readonly string[] = [
  "secrets",
  "resourceReferences",
  "deletedWith",
  "aliasSpecs",
  "transforms",
  "invokeTransforms",
  "resourceHooks",
  "invokeDependsOn",
  "replaceWith",
];

/**
 * The same, as newer versions get them with the deployment's information. Without alias specifications an SDK would
 * compute former URNs by itself, but not those of a resource whose parent's parent had an alias.
 */
export const featureNumbers: readonly ResourceMonitorFeature[] =
  numbers === undefined
    ? []
    : [
        numbers.RESOURCE_MONITOR_FEATURE_SECRETS,
        numbers.RESOURCE_MONITOR_FEATURE_RESOURCE_REFERENCES,
        numbers.RESOURCE_MONITOR_FEATURE_DELETED_WITH,
        numbers.RESOURCE_MONITOR_FEATURE_ALIAS_SPECS,
        numbers.RESOURCE_MONITOR_FEATURE_TRANSFORMS,
        numbers.RESOURCE_MONITOR_FEATURE_INVOKE_TRANSFORMS,
        numbers.RESOURCE_MONITOR_FEATURE_RESOURCE_HOOKS,
        // Not every version has these. The last two are refused by name; without an answer the SDK would advise another CLI.
        ...("RESOURCE_MONITOR_FEATURE_INVOKE_DEPENDS_ON" in numbers
          ? [numbers.RESOURCE_MONITOR_FEATURE_INVOKE_DEPENDS_ON]
          : []),
        ...("RESOURCE_MONITOR_FEATURE_REPLACE_WITH" in numbers ? [numbers.RESOURCE_MONITOR_FEATURE_REPLACE_WITH] : []),
        ...("RESOURCE_MONITOR_FEATURE_STATE_MIGRATIONS" in numbers
          ? [numbers.RESOURCE_MONITOR_FEATURE_STATE_MIGRATIONS]
          : []),
      ];

/** The answer to a call of a function, which had the provider's form before it had one of its own. */
export const newInvokeResponse = (): ResourceInvokeResponse =>
  Response === undefined ? (new providerProto.InvokeResponse() as unknown as ResourceInvokeResponse) : new Response();

/** The resources that a call of a function depends on; older versions wait for them by themselves. */
export function dependenciesOf(request: ResourceInvokeRequest): readonly string[] {
  const newer: Partial<Pick<ResourceInvokeRequest, "getDependsonList">> = request;
  return newer.getDependsonList?.() ?? [];
}

/** The fields of a registration that not every version has. */
export type Newer = Partial<
  Pick<
    RegisterResourceRequest,
    | "getReplaceWithList"
    | "hasReplacementTrigger"
    | "getReplacementTrigger"
    | "getEnvvarmappingsMap"
    | "getSnippetid"
    | "getStateMigrationsList"
  >
>;
