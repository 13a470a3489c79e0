import grpc from "@grpc/grpc-js";
import type { ServiceError } from "@grpc/grpc-js";
import * as pulumi from "@pulumi/pulumi";
import providerProto from "@pulumi/pulumi/proto/provider_pb.js";
import type * as pb from "@pulumi/pulumi/proto/provider_pb.js";
import * as resource from "@pulumi/pulumi/resource.js";
import structProto from "google-protobuf/google/protobuf/struct_pb.js";
import type { Constructing } from "../../provider/pulumi/plugin/components.ts";
import { Environment } from "../environment.ts";
import { throughPlugin } from "../program.ts";
import { environmentArgs } from "./inputs.ts";
import { survive } from "./rejections.ts";
import { firstFailure, runtime, withoutPositions } from "./runtime.ts";

/**
 * Constructs an Environment in the plugin: the class that a program would use, with resources of the plugin below it.
 * Each construct has a runtime of its own, so several may run beside each other.
 */
export const construct: Constructing = (request, own) =>
  runtime.withLocalStorage(() =>
    throughPlugin(async () => {
      survive();
      withoutPositions();
      await configure(request, own.engine);
      try {
        const failed = firstFailure();
        const environment = new Environment(
          request.getName(),
          environmentArgs(request),
          optionsOf(request, own.provider),
        );
        return await Promise.race([answerOf(request, environment), failed.then(ended)]);
      } finally {
        const { monitor, engine } = runtime.getStore().settings;
        monitor?.close();
        engine?.close();
      }
    }),
  );

/** Gives the runtime what a program has from the start. */
async function configure(request: pb.ConstructRequest, engine: string): Promise<void> {
  runtime.resetOptions(
    request.getProject(),
    request.getStack(),
    request.getParallel(),
    engine,
    request.getMonitorendpoint(),
    request.getDryrun(),
    request.getOrganization(),
  );
  runtime.setAllConfig(Object.fromEntries(request.getConfigMap().toArray()), request.getConfigsecretkeysList());
  await runtime.awaitFeatureSupport();
}

async function answerOf(request: pb.ConstructRequest, environment: Environment): Promise<pb.ConstructResponse> {
  const { organizations, teams, seeds, apps } = environment;
  const label = `construct(${request.getType()}, ${request.getName()})`;
  const answer = new providerProto.ConstructResponse().setUrn(await urnOf(environment));
  const outputs = { organizations, teams, seeds, apps };
  const [values, dependencies] = await pulumi.runtime.serializeResourceProperties(label, outputs);
  for (const [name, resources] of dependencies) {
    const urns = await Promise.all([...resources].map(urnOf));
    const names = new providerProto.ConstructResponse.PropertyDependencies().setUrnsList(urns);
    answer.getStatedependenciesMap().set(name, names);
  }
  await runtime.waitForRPCs();
  return answer.setState(structProto.Struct.fromJavaScript(values as Record<string, never>));
}

/**
 * Answers a construct of which a part could not be registered. While an engine ends, it has reported why, and would report
 * a failure here as another one.
 */
function ended(failure: ServiceError): pb.ConstructResponse {
  if (![grpc.status.UNAVAILABLE, grpc.status.CANCELLED].includes(failure.code)) throw failure;
  return new providerProto.ConstructResponse();
}

/** The URN of a resource, which is known once the engine has it. */
const urnOf = ({ urn }: pulumi.Resource): Promise<string> => new Promise((resolve) => void urn.apply(resolve));

/** @param provider the one that this plugin is: its children have the same, unless the program names another */
function optionsOf(request: pb.ConstructRequest, provider: string | undefined): pulumi.ComponentResourceOptions {
  const parent = request.getParent();
  const references = new Map(request.getProvidersMap().toArray());
  if (provider !== undefined && !references.has("microapps")) references.set("microapps", provider);
  const providers = [...references].map(
    ([name, reference]) => [name, new resource.DependencyProviderResource(reference)] as const,
  );
  const timeouts = Object.entries(request.getCustomtimeouts()?.toObject() ?? {}).filter(([, time]) => time !== "");
  return {
    ...(parent === "" ? {} : { parent: new resource.DependencyResource(parent) }),
    ...(request.hasProtect() ? { protect: request.getProtect() } : {}),
    ...(request.hasRetainondelete() ? { retainOnDelete: request.getRetainondelete() } : {}),
    ...(timeouts.length > 0 ? { customTimeouts: Object.fromEntries(timeouts) } : {}),
    providers: Object.fromEntries(providers),
    dependsOn: request.getDependenciesList().map((urn) => new resource.DependencyResource(urn)),
    aliases: request.getAliasesList().map(aliasOf),
    ignoreChanges: request.getIgnorechangesList(),
    replaceOnChanges: request.getReplaceonchangesList(),
  };
}

function aliasOf(
  alias: ReturnType<pb.ConstructRequest["getAliasesList"]>[number],
): pulumi.Input<string | pulumi.Alias> {
  const spec = alias.getSpec();
  if (!spec) return alias.getUrn();
  const { name, type, stack, project, parenturn, noparent } = spec.toObject();
  return {
    ...(name === "" ? {} : { name }),
    ...(type === "" ? {} : { type }),
    ...(stack === "" ? {} : { stack }),
    ...(project === "" ? {} : { project }),
    ...(parenturn === "" ? {} : { parent: parenturn }),
    ...(noparent ? { parent: pulumi.rootStackResource } : {}),
  };
}
