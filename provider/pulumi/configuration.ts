import { isIPv4 } from "node:net";
import { z } from "zod";
import { answerRemoved } from "../../machine/removed.ts";
import { nearest } from "../../machine/spelling.ts";
import { dayVariable } from "../../machine/today.ts";
import type { WireNames } from "../../platform/contract/endpoints.ts";
import { email, id, withoutUndefined } from "../../platform/contract/values.ts";
import { isHeaderValue, jsonIn, noHeaderValue } from "../../platform/contract/wire.ts";
import { shortestSecret } from "../../platform/messages/masks.ts";
import { sentences, quote } from "../../platform/messages/text.ts";
import { wireName } from "../../platform/profile/profile.ts";
import { once, ResourceError } from "../resources/common.ts";

/** An unusable configuration; `message` is one sentence that names what to set. */
export class ConfigurationError extends Error {
  override readonly name = "ConfigurationError";
}

const flag = z.union([
  z.boolean(),
  z
    .enum(["true", "false"])
    .transform((text) => text === "true")
    .pipe(z.boolean()),
]);

/** A number of seconds, as a text in a stack. */
const seconds = z
  .union(
    [
      z.number(),
      z
        .string()
        .regex(/^\d+(\.\d+)?$/)
        .transform(Number),
    ],
    { error: "must be a number of seconds" },
  )
  .pipe(z.number().min(0).max(600, "must be at most 600 seconds"));

/** A secret. A shorter text could not be hidden where it is repeated. */
const secret = z
  .string()
  .min(shortestSecret, `has less than ${shortestSecret} characters, and no message could hide it: use a longer one`);

/** A secret that goes out in a header. */
const sentSecret = secret.refine(isHeaderValue, noHeaderValue);

const wireNameKeys = ["platformFormat", "storecopy", "uploadFileToStore"] as const;
const wireNames = z
  .union([z.string().transform((text) => jsonIn(text) ?? text), z.unknown()])
  .pipe(z.partialRecord(z.enum(wireNameKeys), wireName));

/** The ways into the provider: dynamic resources, or the plugin. */
export const providerKinds = ["dynamic", "plugin"] as const;
export type ProviderKind = (typeof providerKinds)[number];

/** The provider's configuration. Each key is `microapps:<key>` in a stack; a variable of the environment counts more. */
export const configuration = z.object({
  endpoint: z.string().min(1).meta({
    description: "Address of the platform, https://…, or emulator:<file>?seed=<platform.yaml>.",
  }),
  email: email.optional().meta({ description: "E-mail address to log in with." }),
  password: secret.optional().meta({ description: "Password to log in with.", secret: true }),
  token: sentSecret.optional().meta({ description: "Token to use instead of a password, with userID.", secret: true }),
  userID: id
    .refine(isHeaderValue, noHeaderValue)
    .optional()
    .meta({ description: "User ID that belongs to the token." }),
  apiKey: sentSecret.optional().meta({ description: "Key that app generation needs beside the token.", secret: true }),
  providerKind: z
    .enum(providerKinds)
    .optional()
    .meta({
      description:
        "What the classes of the Node package use: dynamic resources (dynamic, the default) or the plugin (plugin). " +
        "Programs in other languages always use the plugin.",
    }),
  readOnly: flag.optional().meta({ description: "Refuse every call that changes something." }),
  insecure: flag.optional().meta({
    description: "Allow http:// to another machine, although anybody on the way can read passwords and answers.",
  }),
  driftOnPreview: flag.optional().meta({
    description:
      "Whether each preview of the plugin looks for changes made by hand (default), or only a refresh. " +
      "Dynamic resources only look in a refresh.",
  }),
  lostData: flag.optional().meta({
    description:
      "Confirms in one run that the platform lost what the stack created: up --refresh creates again what is gone, however many rows that are.",
  }),
  consistencySeconds: seconds.optional().meta({
    description:
      "Seconds for which a platform may not find what a run has just created (eventual consistency), and is asked " +
      "again (10). 0 takes the first answer.",
  }),
  organizationID: id.optional().meta({
    description: "Organization that the stack is for: things that a state has in another one are not touched.",
  }),
  movedFrom: z.string().min(1).optional().meta({
    description:
      "Former address of the platform. A state remembers its platform and refuses another one, unless this names it. If the former one no longer answers, set this and endpoint as variables, for one up.",
  }),
  appServer: z
    .url({ protocol: /^https?$/, error: "must be an address, https://…" })
    .optional()
    .meta({ description: "Address of the server in the links to generated apps: a link elsewhere is refused." }),
  profile: z
    .string()
    .min(1)
    .optional()
    .meta({
      description:
        "File that describes how the platform differs, platform-profile.yaml, relative to the program's folder. Settings of " +
        "the configuration take precedence.",
    }),
  wireNames: wireNames.optional().meta({
    description: "Names that the platform spells differently: platformFormat, storecopy, uploadFileToStore.",
  }),
});

export type Configuration = Omit<z.output<typeof configuration>, "wireNames"> & {
  wireNames?: WireNames | undefined;
  /** Origins that the environment allows (default: any). */
  allowed?: readonly string[] | undefined;
};

/** A key or variable that nobody reads. */
export class UnknownSetting extends ConfigurationError {}

const keys = configuration.keyof().options;

/** The keys whose values are secret. */
export const secretKeys: readonly (typeof keys)[number][] = keys.filter(
  (key) => configuration.shape[key].meta()?.secret,
);

/** The variables of a process. */
type Environment = Readonly<Record<string, string | undefined>>;

/** Where values come from: `own` are those of the stack, the program or the state. */
interface Origins {
  own: Readonly<Record<string, unknown>>;
  environment: Environment;
  explicit: boolean;
}

/**
 * Reads the configuration: environment variables first (a refresh or destroy uses the state's configuration, so there
 * must be a way to give a new password), then the stack's. For an explicit provider a variable only fills gaps of the
 * program: two platforms in one program must not become one. Credentials of the environment count only at an origin of
 * the environment, and nothing overrides its prohibitions.
 */
export function configure(
  declared: Readonly<Record<string, unknown>>,
  environment: Environment,
  explicit = false,
): Configuration {
  refuseUnknown(declared, environment, explicit);
  const { settings, unused } = chosen({ own: declared, environment, explicit });
  if (settings["endpoint"] === undefined) {
    throw new ConfigurationError(
      "no endpoint is configured: run `config set microapps:endpoint https://<platform>` for a platform, or " +
        "`config set microapps:endpoint 'emulator:<file>?seed=<platform.yaml>'` for the emulator " +
        `(or set ${variableOf("endpoint")})`,
    );
  }
  const result = configuration.safeParse(settings, sentences);
  if (!result.success) {
    const problems = result.error.issues.map(problemOf);
    throw new ConfigurationError(`the configuration is wrong: ${problems.join("; ")}`);
  }
  const allowed = listReachable(result.data, environment);
  const { email, password, token, userID } = result.data;
  if (token !== undefined ? userID === undefined : email === undefined || password === undefined) {
    const missing =
      token !== undefined
        ? "microapps:token needs microapps:userID beside it"
        : email !== undefined
          ? "microapps:password is not set: set it beside microapps:email, with --secret"
          : "no credentials are configured: set microapps:email and microapps:password (with --secret), or microapps:token and microapps:userID";
    const there =
      unused.length > 0 ? `; ${unused.join(", ")} in the environment count for another origin: ${howToTrust}` : "";
    throw new ConfigurationError(missing + there);
  }
  return { ...result.data, ...(allowed ? { allowed } : {}) };
}

/** The value of each key, and the variables with credentials that are not for the endpoint of an explicit provider. */
function chosen({ own, environment, explicit }: Origins): { settings: Record<string, unknown>; unused: string[] } {
  const filled = (value: unknown): unknown => (value === "" ? undefined : value);
  const setting = (key: string): unknown => filled(own[key]);
  const variable = (key: string): unknown => filled(readVariable(environment, key));
  // The login of an explicit provider, from a program or a state, may be outdated: the environment's counts if it is
  // the same account's.
  const [who, renewed] = variable("token") === undefined ? ["email", "password"] : ["userID", "token"];
  const sameAccount = setting(who) !== undefined && setting(who) === variable(who);
  const before = (key: string): boolean => !explicit || (sameAccount && key === renewed && setting(key) !== undefined);
  // An empty variable clears the setting.
  const first = (key: string): unknown => (readVariable(environment, key) === undefined ? setting(key) : variable(key));
  const value = (key: string): unknown => (before(key) ? first(key) : (setting(key) ?? variable(key)));
  const endpoint = value("endpoint");
  const account = accountKeys.filter(
    (key) => variable(key) !== undefined && (before(key) || setting(key) === undefined),
  );
  const unused = typeof endpoint !== "string" || isTrusted(endpoint, environment) ? [] : account;
  const names = unused.map(variableOf);
  if (unused.length > 0 && !explicit) {
    throw new ConfigurationError(
      `nothing was sent: ${names.join(", ")} ${names.length === 1 ? "is" : "are"} set in the environment, and the ` +
        `endpoint comes from the stack or its state: ${howToTrust}`,
    );
  }
  const settings = Object.fromEntries(keys.map((key) => [key, unused.includes(key) ? setting(key) : value(key)]));
  // The environment can only tighten: a program may be somebody else's.
  if ([variable("readOnly"), setting("readOnly")].some((flag) => flag === true || flag === "true")) {
    settings["readOnly"] = true;
  }
  return { settings, unused: names };
}

/**
 * Describes the problem of a setting in words that quote nothing of its value: a secret may stand in the wrong place.
 * All sentences about values of the configuration come from here.
 */
function problemOf({ path: [key = ""], code, message }: z.core.$ZodIssue): string {
  const quotes = code === "unrecognized_keys" || code === "invalid_key";
  return `microapps:${String(key)} ${quotes ? `has a name that it must not have; there is ${wireNameKeys.join(", ")}` : message}`;
}

/** Describes a secret under a key that is kept in clear, such as a ciphertext that was moved; by key alone. */
export function describeMisplacedSecrets(isSecret: (key: string) => boolean): string | undefined {
  const misplaced = keys.filter((key) => !accountKeys.includes(key) && isSecret(key));
  if (misplaced.length === 0) return undefined;
  return (
    `${misplaced.map((key) => `microapps:${key}`).join(", ")} ${misplaced.length === 1 ? "is a secret" : "are secrets"} in the ` +
    `configuration, and would be shown and sent in plain text: set it without --secret`
  );
}

/** Refuses unknown settings: a mistyped one would silently not apply. */
function refuseUnknown(settings: Readonly<Record<string, unknown>>, environment: Environment, explicit: boolean): void {
  const shown = (key: string): string => (explicit ? key : `microapps:${key}`);
  const problems = [
    ...listRemoved(environment),
    ...unknownNames(withoutRemoved(settings), keys, shown).map(({ key, reason }) => `${shown(key)} ${reason}`),
    ...findMisspelled(environment, [...keys.map(variableOf), allowedVariable, dayVariable]),
  ];
  if (problems.length > 0) throw new UnknownSetting(problems.join("; "));
}

/** Keys that an engine or the SDK adds to the configuration of a provider. */
const foreign = ["version", "pluginDownloadURL", "__internal", "explicitProvider"];

/** `userID` → `MICROAPPS_USER_ID`. */
export const variableOf = (key: string): string =>
  `MICROAPPS_${key.replaceAll(/([a-z])([A-Z])/g, "$1_$2").toUpperCase()}`;

/** The variable of a key; undefined when it is not set. */
export const readVariable = (environment: Environment, key: string): string | undefined => environment[variableOf(key)];

/** Settings without those that are gone: a state still has them, of which nobody needs anything. */
const withoutRemoved = (settings: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(settings).filter(([key]) => answerRemoved("settings", key) === undefined));

/** The sentences about variables that are gone. */
export const listRemoved = (environment: Environment): string[] =>
  Object.keys(environment).flatMap((name) =>
    environment[name] && name.startsWith("MICROAPPS_") ? (answerRemoved("settings", name) ?? []) : [],
  );

/**
 * Describes problems with names of settings: a key or variable that nobody reads would have no effect, such as a
 * mistyped `readOnly`.
 * @param shown a key as the person wrote it
 */
export function unknownNames(
  settings: Readonly<Record<string, unknown>>,
  known: readonly string[],
  shown: (key: string) => string,
): { key: string; reason: string }[] {
  const read = [...known, ...foreign];
  return Object.entries(settings).flatMap(([key, value]) => {
    if (read.includes(key) || value === undefined) return [];
    const gone = answerRemoved("settings", key);
    if (gone !== undefined) return [{ key, reason: gone }];
    const near = nearest(key, known);
    const remedy = near === undefined ? `there is ${known.join(", ")}` : `did you mean ${shown(near)}?`;
    return [{ key, reason: `is not a setting; ${remedy}` }];
  });
}

/** Variables that are a misspelling of one of `names`, which are read. Others that begin alike may belong to somebody else. */
function findMisspelled(environment: Environment, names: readonly string[]): string[] {
  return Object.keys(environment).flatMap((name) => {
    if (!name.startsWith("MICROAPPS_") || names.includes(name) || environment[name] === "") return [];
    if (answerRemoved("settings", name) !== undefined) return [];
    const bare = (each: string): string => each.slice("MICROAPPS_".length).replaceAll("_", "");
    const near = nearest(bare(name), names.map(bare));
    const meant = names.find((each) => bare(each) === near);
    return meant === undefined ? [] : [`the variable ${name} is not read; did you mean ${meant}?`];
  });
}

// A credential belongs to an origin. Configuration that others can change (a stack's file, a program, a state) may say
// where the platform is, and never where the environment's credentials go.

/** Variables that no stack and no program can set: origins to which anything may be sent, separated by commas. */
const allowedVariable = "MICROAPPS_ALLOWED_ENDPOINTS";

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
function allowedOrigins(variables: Environment): string[] | undefined {
  const text = variables[allowedVariable];
  if (text === undefined || text === "") return undefined;
  return text.split(",").map((entry, index) => {
    const origin = originOf(entry.trim());
    if (origin === undefined) {
      throw new ConfigurationError(
        `${allowedVariable}: entry ${index + 1} is not an origin: write https://<host>, or emulator: for emulators, separated by commas`,
      );
    }
    return origin;
  });
}

/**
 * True when the environment names the origin of an endpoint, as the platform's or as an allowed one. An invalid
 * endpoint passes here and is refused elsewhere: it receives nothing.
 */
function isTrusted(endpoint: string, variables: Environment): boolean {
  const origin = originOf(endpoint);
  if (origin === undefined) return true;
  const own = originOf(variables["MICROAPPS_ENDPOINT"] ?? "");
  return origin === own || (allowedOrigins(variables) ?? []).includes(origin);
}

/** Ends a sentence about credentials that were not used. */
const howToTrust =
  `a credential of the environment is used only where the environment says: set MICROAPPS_ENDPOINT to the address ` +
  `of its platform, or ${allowedVariable} to the origin (https://<host>, or emulator:), also in the environment`;

/**
 * The origins that the environment allows. Throws when the endpoint can't be, or must not be, spoken to. Its text is never
 * quoted: it may be a secret in the wrong place.
 */
function listReachable(
  { endpoint, insecure }: { endpoint: string; insecure?: boolean | undefined },
  environment: Environment,
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

/** True where Node believes every certificate. */
export const believesAll = (environment: Environment): boolean => environment["NODE_TLS_REJECT_UNAUTHORIZED"] === "0";

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
  `microapps:${key} is in plain text in the configuration of the stack: encrypt it with ` +
  `'pulumi config set --secret microapps:${key}' (or 'microapps config set --secret microapps:${key}')`;

/** The output by which each resource knows the platform that it is on. */
export const bindingOutput = "platform";

/** A platform as states name it: its address without an account, and the organization when the configuration has one. */
export const platformOf = once(
  ({ endpoint, organizationID }: Configuration) =>
    addressOf(endpoint) + (organizationID === undefined ? "" : `#${organizationID}`),
);

/** The address of a platform, without what a new emulator file is planted with. */
export function addressOf(endpoint: string): string {
  // The query names what a new file is planted with.
  if (endpoint.startsWith("emulator:")) return endpoint.replace(/\?.*$/, "");
  if (!URL.canParse(endpoint)) return endpoint;
  const { protocol, host, pathname } = new URL(endpoint);
  return `${protocol}//${host}${pathname.replace(/\/+$/, "")}`;
}

/** A resource's outputs, with the platform that it is on. */
export const bind = (outputs: Record<string, unknown>, configuration: Configuration): Record<string, unknown> => ({
  ...withoutUndefined(outputs), // which has no form in a message
  [bindingOutput]: platformOf(configuration),
});

/** True when the platform's address changed (movedFrom). Throws when the state is of another platform. */
export function isMoved(state: Record<string, unknown>, configuration: Configuration): boolean {
  const bound = state[bindingOutput];
  const here = platformOf(configuration);
  if (typeof bound !== "string" || bound === here) return false;
  const [[address, known], [now, wanted]] = [bound.split("#"), here.split("#")];
  // A state from before the configuration named an organization may say itself where it is, as a team's does.
  const ownID = state["organizationID"];
  const organization = known ?? (typeof ownID === "string" ? ownID : undefined);
  const sameOrganization = organization === undefined || wanted === undefined || organization === wanted;
  const { movedFrom } = configuration;
  if (sameOrganization && address === now) return false;
  if (movedFrom !== undefined && [bound, address].includes(addressOf(movedFrom))) return true;
  const there = sameOrganization ? bound : `${address}#${organization}`;
  const place = nameOf(configuration, address);
  throw new ResourceError(
    `it belongs to the platform ${there}, and the configuration says ${place}: nothing was sent. Use the stack or the ` +
      `configuration of that platform; if it is the same platform in another place, set microapps:movedFrom to ${quote(bound)}. ` +
      "A refresh or destroy takes the configuration of the last up, but for variables such as MICROAPPS_ENDPOINT.",
  );
}

/** The platform of a configuration in an error: of the endpoint its origin alone, the rest may be a secret in the wrong place. */
function nameOf({ endpoint, organizationID }: Configuration, other: string | undefined): string {
  const origin = originOf(endpoint);
  const address = addressOf(endpoint);
  const place = origin === "emulator:" ? "another emulator" : address === origin ? origin : `${origin} with a path`;
  return (address === other ? address : place) + (organizationID === undefined ? "" : `#${organizationID}`);
}

/** What an endpoint `emulator:<file>?seed=<platform.yaml>` needs. `directory` is the program's folder. */
export interface Emulators {
  /** Starts the emulator, which lets this process end. `added`: sentences about what its seed has got. */
  start: (endpoint: string, directory: string) => Promise<{ url: string; added: string[]; close: () => Promise<void> }>;
}

let handedIn: Emulators | undefined;

/** Hands in what starts emulators: the entries of the package do, so that no resource depends on the emulator. */
export function useEmulators(emulators: Emulators): void {
  handedIn = emulators;
}

export function emulators(): Emulators {
  if (!handedIn) throw new Error("this process starts no emulator: name the address of one that runs");
  return handedIn;
}
