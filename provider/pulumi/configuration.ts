import { z } from "zod";
import type { WireNames } from "../contract/endpoints.ts";
import { role } from "../contract/members.ts";
import { sentences } from "../contract/sentences.ts";
import { email, id } from "../contract/values.ts";
import { misspelled, readVariable, unknownNames, variableOf, withPresentKeys } from "./keys.ts";

const flag = z.union([
  z.boolean(),
  z
    .enum(["true", "false"])
    .transform((text) => text === "true")
    .pipe(z.boolean()),
]);

const wireNames = z
  .union([z.string().transform((text, issue) => parsed(text, issue)), z.unknown()])
  .pipe(z.partialRecord(z.enum(["platformFormat", "storecopy", "uploadFileToStore"]), z.string().min(1)));

/** The provider's configuration. Each key is `microapps:<key>` in a stack; a variable of the environment counts more. */
export const configuration = z.object({
  endpoint: z.string().min(1).meta({
    description: "Address of the platform, https://…, or emulator:<file>?seed=<platform.yaml>.",
  }),
  email: email.optional().meta({ description: "E-mail address to log in with." }),
  password: z.string().min(1).optional().meta({ description: "Password to log in with.", secret: true }),
  token: z
    .string()
    .min(1)
    .optional()
    .meta({ description: "Token to use instead of a password, with userID.", secret: true }),
  userID: id.optional().meta({ description: "User ID that belongs to the token." }),
  apiKey: z
    .string()
    .min(1)
    .optional()
    .meta({ description: "Key that app generation needs beside the token.", secret: true }),
  readOnly: flag.optional().meta({ description: "Refuse every call that changes something." }),
  driftOnPreview: flag.optional().meta({
    description:
      "Whether each preview of the plugin looks for what was changed by hand (default), or a refresh alone does. " +
      "The dynamic resources look in a refresh alone.",
  }),
  organizationID: id.optional().meta({
    description: "Organization that the stack is for: what a state says is in another one is not touched.",
  }),
  movedFrom: z.string().min(1).optional().meta({
    description:
      "Former address of the platform. A state remembers its platform and refuses another one, unless this names it.",
  }),
  wireNames: wireNames.optional().meta({
    description: "Names that the deployment spells otherwise: platformFormat, storecopy, uploadFileToStore.",
  }),
});

export type Configuration = Omit<z.output<typeof configuration>, "wireNames"> & { wireNames?: WireNames | undefined };

/** A configuration that cannot be used, in one sentence that says what to set. */
export class ConfigurationError extends Error {
  override readonly name = "ConfigurationError";
}

/** A key or variable that nobody reads. */
export class UnknownSetting extends ConfigurationError {}

const keys = configuration.keyof().options;

/** The keys whose values are secret. */
export const secretKeys: readonly (typeof keys)[number][] = keys.filter(
  (key) => configuration.shape[key].meta()?.secret,
);

/**
 * Reads the configuration: environment variables first (a refresh or destroy runs with what the state remembers, so
 * there must be a way to give a new password), then the stack's. For an explicit provider a variable counts only where
 * the program says nothing: two platforms in one program must not become one.
 */
export function configure(
  given: Readonly<Record<string, unknown>>,
  environment: Readonly<Record<string, string | undefined>>,
  explicit = false,
): Configuration {
  refuseUnknown(given, environment, explicit);
  const own = withPresentKeys(given);
  const values = keys.map((key) => {
    const variable = readVariable(environment, key);
    const said = own[key];
    const given = said === "" ? undefined : said;
    const value = explicit ? (given ?? variable) : (variable ?? given);
    return [key, value === "" ? undefined : value] as const;
  });
  const settings = Object.fromEntries(values);
  if (settings["endpoint"] === undefined) {
    throw new ConfigurationError(
      "no endpoint is configured: run `config set microapps:endpoint https://<platform>` for a platform, or " +
        "`config set microapps:endpoint 'emulator:<file>?seed=<platform.yaml>'` for the emulator " +
        `(or set ${variableOf("endpoint")})`,
    );
  }
  const result = configuration.safeParse(settings, sentences);
  if (!result.success) {
    const problems = result.error.issues.map(({ path, message }) => `microapps:${path.join(".")} ${message}`);
    throw new ConfigurationError(`the configuration is wrong: ${problems.join("; ")}`);
  }
  const { endpoint, email, password, token, userID } = result.data;
  if (!/^(https?:\/\/|emulator:)/.test(endpoint)) {
    throw new ConfigurationError(
      `microapps:endpoint must begin with https:// (or http://) or emulator:, not "${endpoint}"`,
    );
  }
  if (token !== undefined ? userID === undefined : email === undefined || password === undefined) {
    throw new ConfigurationError(
      token !== undefined
        ? "microapps:token needs microapps:userID beside it"
        : "no credentials are configured: set microapps:email and microapps:password (with --secret), or microapps:token and microapps:userID",
    );
  }
  return result.data;
}

/** What is not known is refused as a whole: what is mistyped is not what it was meant to be. */
function refuseUnknown(
  given: Readonly<Record<string, unknown>>,
  environment: Readonly<Record<string, string | undefined>>,
  explicit: boolean,
): void {
  const shown = (key: string): string => (explicit ? key : `microapps:${key}`);
  const problems = [
    ...unknownNames(given, keys, shown).map(({ key, reason }) => `${shown(key)} ${reason}`),
    ...misspelled(environment, keys),
  ];
  if (problems.length > 0) throw new UnknownSetting(problems.join("; "));
}

function parsed(text: string, issue: z.core.$RefinementCtx): unknown {
  try {
    return JSON.parse(text);
  } catch {
    issue.addIssue("must be a JSON object");
    return z.NEVER;
  }
}

/**
 * The text without any secret of the configuration, as it is or as a URL, JSON or a header spells it: nothing that a
 * person reads may hold one. What the configuration has in clear and the names of roles stay readable, even when they hold
 * the letters of a weak password, as admin@example.com does: hiding them would tell it. `others` are further secrets, such as those among a resource's properties.
 */
export function withoutSecrets(
  text: string,
  configuration: Configuration | undefined,
  others: readonly string[] = [],
): string {
  const own = configuration ? valuesOf(configuration, secretKeys) : [];
  const secrets = [...own, ...others.filter((value) => value.length > 3)]
    .flatMap((value) => [value, ...spellings(value)])
    .toSorted((a, b) => b.length - a.length);
  const clear = [...(configuration ? valuesOf(configuration, ["endpoint", "email", "userID"]) : []), ...role.options];
  let clean = text;
  for (const secret of secrets) {
    const words = clear.filter((word) => word.includes(secret));
    clean = hidden(clean, secret, words);
  }
  return clean;
}

const valuesOf = (configuration: Configuration, keys: readonly (keyof Configuration)[]): string[] =>
  keys.flatMap((key) => {
    const value = configuration[key];
    return typeof value === "string" && value.length > 3 ? [value] : [];
  });

const spellings = (value: string): string[] => [
  encodeURIComponent(value),
  JSON.stringify(value).slice(1, -1),
  Buffer.from(value).toString("base64"),
  Buffer.from(value).toString("base64url"),
];

/**
 * The secret as a whole. A short one of letters and digits may well be a part of another word, which would read
 * `[secret]istration` and so tell the secret; a longer one is hidden wherever it stands.
 */
function whole(secret: string): RegExp {
  const literal = secret.replaceAll(/[.*+?^${}()|[\]\\/]/g, "\\$&");
  const isWord = secret.length < 12 && /^[\p{L}\p{N}]+$/u.test(secret);
  return new RegExp(isWord ? `(?<![\\p{L}\\p{N}])${literal}(?![\\p{L}\\p{N}])` : literal, "gu");
}

/** The text without the secret, except where it stands inside one of these words. */
function hidden(text: string, secret: string, [word, ...words]: readonly string[]): string {
  if (word === undefined) return text.replaceAll(whole(secret), "[secret]");
  return text
    .split(word)
    .map((piece) => hidden(piece, secret, words))
    .join(word);
}
