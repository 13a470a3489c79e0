import providerProto from "@pulumi/pulumi/proto/provider_pb.js";
import type { CheckFailure } from "@pulumi/pulumi/proto/provider_pb.js";
import resourceProto from "@pulumi/pulumi/proto/resource_pb.js";
import type { RegisterResourceRequest, RegisterResourceResponse } from "@pulumi/pulumi/proto/resource_pb.js";
import type { Constructed } from "../providers/construction.ts";
import { toStruct } from "../values/structs.ts";
import { containsUnknown, type PropertyMap } from "../values/values.ts";

/** Answers a registration. */
export function responseOf(
  request: RegisterResourceRequest,
  { urn, id = "" }: { urn: string; id?: string },
  outputs: PropertyMap,
): RegisterResourceResponse {
  const known = request.getSupportspartialvalues()
    ? outputs
    : Object.fromEntries(Object.entries(outputs).filter(([, value]) => !containsUnknown(value)));
  const accepted = { secrets: request.getAcceptsecrets(), resources: request.getAcceptresources(), unknowns: true };
  const response = new resourceProto.RegisterResourceResponse().setUrn(urn).setObject(toStruct(known, accepted));
  return response.setId(id).setResult(resourceProto.Result.SUCCESS);
}

/** Passes the origins of a component's outputs to a program: the resources that they come from. */
export function withDependencies(
  response: RegisterResourceResponse,
  { dependencies }: Constructed,
): RegisterResourceResponse {
  for (const [name, urns] of Object.entries(dependencies)) {
    const names = new resourceProto.RegisterResourceResponse.PropertyDependencies().setUrnsList(urns);
    response.getPropertydependenciesMap().set(name, names);
  }
  return response;
}

/** Answers a call with a reason why it failed, of one property or of all of it. */
export const failureOf = (property: string, reason: string): CheckFailure =>
  new providerProto.CheckFailure().setProperty(property).setReason(reason);
