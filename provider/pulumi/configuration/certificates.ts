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
