import * as pulumi from "@pulumi/pulumi";
import type { z } from "zod";
import { configuration } from "../provider/pulumi/configuration.ts";

type Settings = z.input<typeof configuration>;

/** What a Provider is declared with: the same keys as the configuration has. */
export type ProviderArgs = { [Name in keyof Settings]?: pulumi.Input<Settings[Name]> };

/**
 * A platform and an account of its own, for the option `provider` of a resource or `providers` of a component: two
 * platforms in one program. What is not given here comes from the environment variables.
 */
export class Provider extends pulumi.ProviderResource {
  /** What it was declared with, as JSON and as a secret: functions ask the same platform. */
  readonly settings: pulumi.Output<string>;

  constructor(name: string, args: ProviderArgs, options?: pulumi.ResourceOptions) {
    const given = Object.entries(args).map(([key, value]) => {
      const secret = configuration.shape[key as keyof Settings].meta()?.secret; // keys of the arguments are its keys
      return [`microapps:${key}`, secret ? pulumi.secret(value) : value] as const;
    });
    // The package of dynamic resources: its host gets these inputs in place of the stack's configuration.
    super("pulumi-nodejs", name, { ...Object.fromEntries(given), "microapps:explicitProvider": "true" }, options);
    this.settings = pulumi.secret(pulumi.jsonStringify(args));
  }
}
