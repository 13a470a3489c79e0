import * as pulumi from "@pulumi/pulumi";
import {
  believesAll,
  certificateWarning,
  clearSecrets,
  clearWarning,
  configuration,
  describeMisplacedSecrets,
  unknownNames,
} from "../provider/pulumi/configuration.ts";

const prefix = "microapps:";

/** Everything that the stack's configuration has under `microapps:`. */
export const stackSettings = (): Record<string, string> =>
  Object.fromEntries(
    Object.entries(pulumi.runtime.allConfig()).flatMap(([key, value]) =>
      key.startsWith(prefix) ? [[key.slice(prefix.length), value]] : [],
    ),
  );

// The types of the SDK hide it; a version without it gets no warnings of secrets in clear.
const { isConfigSecret } = pulumi.runtime as { isConfigSecret?: (key: string) => boolean };

let checked = false;

/**
 * Throws when the stack has a key that nobody reads, or a secret under a key that is kept in clear: the host of dynamic
 * resources gets all keys in clear and could not notice. Warns once of secrets in clear.
 */
export function checkStackSettings(): void {
  if (checked) return;
  const settings = stackSettings();
  const shown = (key: string): string => prefix + key;
  const unknown = unknownNames(settings, configuration.keyof().options, shown);
  if (unknown.length > 0) {
    throw new pulumi.RunError(unknown.map(({ key, reason }) => `${shown(key)} ${reason}`).join("; "));
  }
  const misplaced = describeMisplacedSecrets((key) => isConfigSecret?.(shown(key)) ?? false);
  if (misplaced !== undefined) throw new pulumi.RunError(misplaced);
  for (const key of clearSecrets(settings, (name) => isConfigSecret?.(shown(name)) ?? true)) {
    void pulumi.log.warn(clearWarning(key));
  }
  if (believesAll(process.env)) void pulumi.log.warn(certificateWarning);
  checked = true;
}
