import type * as pulumi from "@pulumi/pulumi";

/** The class of a resource, with arguments and outputs as sdk/args.ts describes them. */
export interface ResourceClass<Args, Outputs> {
  /**
   * @param options Pulumi's. `customTimeouts` limit creates and updates; deletes take as long as they need. `import` and
   * `id` are refused, as are parts of rows in `ignoreChanges` and `replaceOnChanges`.
   */
  new (name: string, args: Args, options?: pulumi.CustomResourceOptions): pulumi.CustomResource & Outputs;
  /** @deprecated Always throws a RunError that names what to use instead: dynamic resources can't be looked up. */
  get: (name: string, id: pulumi.Input<pulumi.ID>, ...more: unknown[]) => never;
}
