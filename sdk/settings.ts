import * as pulumi from "@pulumi/pulumi";
import { misplacedSecrets } from "../provider/pulumi/configuration.ts";

/**
 * Throws when the stack has a secret under a key that is kept in clear: the host of dynamic resources gets all keys in
 * clear and could not tell.
 */
export function refuseMisplacedSecrets(): void {
  const listed = process.env["PULUMI_CONFIG_SECRET_KEYS"] ?? "";
  if (!listed.includes("microapps:")) return;
  const keys: unknown = JSON.parse(listed); // the engine's own list
  const misplaced = misplacedSecrets((key) => Array.isArray(keys) && keys.includes(`microapps:${key}`));
  if (misplaced !== undefined) throw new pulumi.RunError(misplaced);
}
