import type { RegisterResourceRequest } from "@pulumi/pulumi/proto/resource_pb.js";
import type { Goal } from "../deployment/goal.ts";
import type { Run } from "../deployment/run.ts";
import type { Construction } from "../providers/construction.ts";

/** The request to a provider that constructs a component. `monitor`: the address at which its parts are registered. */
export function constructionOf(goal: Goal, request: RegisterResourceRequest, run: Run, monitor: string): Construction {
  const { project, stack, config, preview, parallel } = run;
  return {
    ...goal,
    inputDependencies: goal.propertyDependencies,
    providers: request.getProvidersMap().toArray(),
    run: { project, stack, config, preview, parallel, monitor },
  };
}
