import type { Alias as ProtoAlias } from "@pulumi/pulumi/proto/alias_pb.js";
import aliasProto from "@pulumi/pulumi/proto/alias_pb.js";
import type * as pb from "@pulumi/pulumi/proto/provider_pb.js";
import providerProto from "@pulumi/pulumi/proto/provider_pb.js";
import type { Struct } from "google-protobuf/google/protobuf/struct_pb.js";
import type { Alias } from "../values/aliases.ts";
import { fromStruct } from "../values/structs.ts";
import type { PropertyMap } from "../values/values.ts";

/** A component as a program asks for it, and the run that it is part of. */
export interface Construction {
  type: string;
  name: string;
  parent: string;
  inputs: PropertyMap;
  /** Resources that inputs come from, by the name of the input. */
  inputDependencies: Readonly<Record<string, string[]>>;
  dependencies: string[];
  /** References of providers by package. */
  providers: readonly (readonly [name: string, reference: string])[];
  aliases: readonly Alias[];
  protect: boolean | undefined;
  retainOnDelete: boolean | undefined;
  ignoreChanges: string[];
  replaceOnChanges: string[];
  run: {
    project: string;
    stack: string;
    config: Readonly<Record<string, { text: string; secret: boolean }>>;
    preview: boolean;
    parallel: number;
    /** The address at which it registers what it consists of. */
    monitor: string;
  };
}

export interface Constructed {
  urn: string;
  outputs: PropertyMap;
  /** Resources that outputs come from, by the name of the output. */
  dependencies: Readonly<Record<string, string[]>>;
}

/** Writes the request for a component. `inputs`: as the provider takes them. */
export function constructRequest(construction: Construction, inputs: Struct): pb.ConstructRequest {
  const { run, protect, retainOnDelete } = construction;
  const config = Object.entries(run.config);
  const request = new providerProto.ConstructRequest()
    .setProject(run.project)
    .setStack(run.stack)
    .setOrganization("organization")
    .setConfigsecretkeysList(config.flatMap(([key, { secret }]) => (secret ? [key] : [])))
    .setDryrun(run.preview)
    .setParallel(run.parallel)
    .setMonitorendpoint(run.monitor)
    .setType(construction.type)
    .setName(construction.name)
    .setParent(construction.parent)
    .setInputs(inputs)
    .setDependenciesList(construction.dependencies)
    .setAliasesList(construction.aliases.map(toProtoAlias))
    .setIgnorechangesList(construction.ignoreChanges)
    .setReplaceonchangesList(construction.replaceOnChanges);
  if (protect !== undefined) request.setProtect(protect);
  if (retainOnDelete !== undefined) request.setRetainondelete(retainOnDelete);
  for (const [key, { text }] of config) request.getConfigMap().set(key, text);
  for (const [name, reference] of construction.providers) request.getProvidersMap().set(name, reference);
  for (const [name, urns] of Object.entries(construction.inputDependencies)) {
    const dependencies = new providerProto.ConstructRequest.PropertyDependencies().setUrnsList(urns);
    request.getInputdependenciesMap().set(name, dependencies);
  }
  return request;
}

/** Reads the answer. */
export const toConstructed = (response: pb.ConstructResponse): Constructed => ({
  urn: response.getUrn(),
  outputs: fromStruct(response.getState()),
  dependencies: Object.fromEntries(
    response
      .getStatedependenciesMap()
      .toObject(false, (_, message) => message.toObject())
      .map(([name, { urnsList }]) => [name, urnsList]),
  ),
});

/** Reads an alias; an empty text where it has neither a URN nor parts. */
export function fromProtoAlias(alias: ProtoAlias): Alias {
  const parts = alias.getSpec()?.toObject();
  if (!parts) return alias.getUrn();
  const { name, type, stack, project, parenturn: parent, noparent: noParent } = parts;
  return { name, type, stack, project, parent, noParent };
}

/** Writes an alias. */
export function toProtoAlias(alias: Alias): ProtoAlias {
  const proto = new aliasProto.Alias();
  if (typeof alias === "string") return proto.setUrn(alias);
  const { name, type, stack, project } = alias;
  const spec = new aliasProto.Alias.Spec().setName(name).setType(type).setStack(stack).setProject(project);
  if (alias.noParent) spec.setNoparent(true);
  else if (alias.parent !== "") spec.setParenturn(alias.parent);
  return proto.setSpec(spec);
}
