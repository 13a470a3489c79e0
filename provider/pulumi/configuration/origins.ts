import { isIPv4 } from "node:net";
import { ConfigurationError } from "./configurationError.ts";

// A credential belongs to an origin. Configuration that others can change (a stack's file, a program, a state) may say
// where the platform is, and never where the environment's credentials go.

type Variables = Readonly<Record<string, string | undefined>>;

/** Variables that no stack and no program can set: origins to which anything may be sent, separated by commas. */
export const allowedVariable = "MICROAPPS_ALLOWED_ENDPOINTS";

/** Settings that identify a caller: those of the environment are sent to its origins alone. */
export const accountKeys: readonly string[] = ["email", "password", "token", "userID", "apiKey"];

/** Whatever runs inside this process and not at an address. */
const emulator = "emulator:";

/** Scheme, host and port of an endpoint; `emulator:` for each emulator in this process; undefined when it is none. */
export function originOf(endpoint: string): string | undefined {
  if (endpoint.startsWith(emulator)) return emulator;
  if (!/^https?:\/\//i.test(endpoint) || !URL.canParse(endpoint)) return undefined;
  return new URL(endpoint).origin;
}

/** True when requests to the endpoint can be read on their way: `http://` to another machine. */
function isReadable(endpoint: string): boolean {
  if (!URL.canParse(endpoint)) return false;
  const { protocol, hostname } = new URL(endpoint);
  return protocol === "http:" && !isLoopback(hostname);
}

const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" || hostname === "[::1]" || (isIPv4(hostname) && hostname.startsWith("127."));

/** The origins that the environment allows; undefined for any. Throws an error that quotes no value. */
function allowedOrigins(variables: Variables): string[] | undefined {
  const text = variables[allowedVariable];
  if (text === undefined || text === "") return undefined;
  return text.split(",").map((entry, index) => {
    const origin = originOf(entry.trim());
    if (origin === undefined) {
      throw new ConfigurationError(
        `${allowedVariable}: entry ${index + 1} is no origin: write https://<host>, or emulator: for emulators, separated by commas`,
      );
    }
    return origin;
  });
}

/**
 * True when the environment names the origin of an endpoint, as the platform's or as an allowed one. An invalid
 * endpoint passes here and is refused elsewhere: it receives nothing.
 */
export function isTrusted(endpoint: string, variables: Variables): boolean {
  const origin = originOf(endpoint);
  if (origin === undefined) return true;
  const own = originOf(variables["MICROAPPS_ENDPOINT"] ?? "");
  return origin === own || (allowedOrigins(variables) ?? []).includes(origin);
}

/** Ends a sentence about credentials that were not used. */
export const howToTrust =
  `a credential of the environment is used only where the environment says: set MICROAPPS_ENDPOINT to the address ` +
  `of its platform, or ${allowedVariable} to the origin (https://<host>, or emulator:), also in the environment`;

/**
 * The origins that the environment allows. Throws when the endpoint can't be, or must not be, spoken to. Its text is never
 * quoted: it may be a secret in the wrong place.
 */
export function listReachable(
  { endpoint, insecure }: { endpoint: string; insecure?: boolean | undefined },
  environment: Variables,
): string[] | undefined {
  const origin = originOf(endpoint);
  if (origin === undefined) {
    throw new ConfigurationError(
      "microapps:endpoint must be an address that begins with https:// (or http://), or emulator:<file>",
    );
  }
  const allowed = allowedOrigins(environment);
  if (allowed && !allowed.includes(origin)) {
    throw new ConfigurationError(
      `nothing was sent: the origin of microapps:endpoint is not among those of ${allowedVariable}: add it there, or correct the endpoint`,
    );
  }
  if (isReadable(endpoint) && insecure !== true) {
    throw new ConfigurationError(
      "nothing was sent: microapps:endpoint begins with http:// and is on another machine, so everybody on the way could " +
        "read the password: use https://, or set microapps:insecure to true",
    );
  }
  return allowed;
}
