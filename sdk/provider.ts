import * as pulumi from "@pulumi/pulumi";
import { configuration, secretKeys, unknownNames } from "../provider/pulumi/configuration.ts";
import { explicitInput, packageOf } from "../provider/pulumi/names.ts";
import type { ProviderArgs } from "./args.ts";
import { program, providerThroughOther } from "./program.ts";

/**
 * A platform and an account of its own, for the option `provider` of a resource or `providers` of a component: two
 * platforms in one program. A key that is left out comes from its environment variable.
 */
export class Provider extends pulumi.ProviderResource {
  /** Its arguments as JSON, a secret: functions use them to ask the same platform. */
  readonly settings: pulumi.Output<string>;

  constructor(name: string, args: ProviderArgs, options?: pulumi.ResourceOptions) {
    const unknown = unknownNames({ ...args }, configuration.keyof().options, (key) => key);
    if (unknown.length > 0) {
      const problems = unknown.map(({ key, reason }) => `${key} ${reason}`).join("; ");
      throw new pulumi.RunError(`Provider ${name}: ${problems}`);
    }
    const secrets: readonly string[] = secretKeys;
    const { providerKind: through } = program();
    // The host of dynamic resources gets these inputs in place of the stack's configuration, which names packages.
    const prefix = through === "dynamic" ? "microapps:" : "";
    const inputs = Object.entries(args).map(
      ([key, value]) => [prefix + key, secrets.includes(key) ? pulumi.secret(value) : value] as const,
    );
    const forHost = through === "dynamic" ? { [explicitInput]: "true" } : {};
    const merged = pulumi.mergeOptions(options, providerThroughOther(through));
    super(packageOf(through), name, { ...Object.fromEntries(inputs), ...forHost }, merged);
    this.settings = pulumi.secret(pulumi.jsonStringify(args));
  }
}
