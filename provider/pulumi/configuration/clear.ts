import { secretKeys } from "./configuration.ts";

/**
 * Secrets that stand in clear in the configuration of a stack. The password of an emulator that a provider starts for
 * itself guards nothing.
 * @param isSecret whether the configuration has the key encrypted
 */
export function clearSecrets(
  settings: Readonly<Record<string, unknown>>,
  isSecret: (key: string) => boolean,
): string[] {
  const { endpoint } = settings;
  if (typeof endpoint === "string" && endpoint.startsWith("emulator:")) return [];
  return secretKeys.filter((key) => settings[key] !== undefined && settings[key] !== "" && !isSecret(key));
}

/** The warning about such a key. */
export const clearWarning = (key: string): string =>
  `microapps:${key} stands in clear in the configuration of the stack: encrypt it with ` +
  `'pulumi config set --secret microapps:${key}' (or 'microapps config set --secret microapps:${key}')`;

/** True where Node believes every certificate. */
export const believesAll = (environment: Readonly<Record<string, string | undefined>>): boolean =>
  environment["NODE_TLS_REJECT_UNAUTHORIZED"] === "0";

/** The warning about that, in every run. */
export const certificateWarning =
  "NODE_TLS_REJECT_UNAUTHORIZED=0 believes every certificate: whoever is on the way can pass for the platform and read the " +
  "password. Unset it, and name a certificate of your own in NODE_EXTRA_CA_CERTS";

/** Where warnings go, of a resource or of a whole run. */
type Warning = (urn: undefined, clean: (text: string) => string) => { warning: (text: string) => void };
const warned = new WeakSet<Warning>();

/** Warns an engine once, however many providers it configures. */
export function warnOfCertificates(report: Warning): void {
  if (!believesAll(process.env) || warned.has(report)) return;
  warned.add(report);
  report(undefined, (text) => text).warning(certificateWarning);
}
