import type { ConstructRequest } from "@pulumi/pulumi/proto/provider_pb.js";
import type { EnvironmentArgs } from "../environment.ts";

export function environmentArgs(request: ConstructRequest): EnvironmentArgs {
  return request.getInputs()?.toJavaScript() as unknown as EnvironmentArgs;
}
