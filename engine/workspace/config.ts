import { EngineError, Refusal } from "../errors.ts";
import type { Crypter } from "../state/crypter.ts";
import { goJson, isObject, type JsonValue } from "../values/json.ts";
import { dynamicPackage } from "../values/urns.ts";
import { hidden, type PropertyMap, Secret } from "../values/values.ts";
import type { Project } from "./project.ts";

/** An encrypted value: `secure: v1:…` in the stack's file. */
export class Cipher {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** A value under `config` in the stack's file. */
export type ConfigValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Cipher
  | ConfigValue[]
  | { [name: string]: ConfigValue };

/** The value of a key in effect: the text that programs read, decrypted. */
export interface ConfigEntry {
  text: string;
  secret: boolean;
  /** True if the value is structured; then the text is JSON. */
  object: boolean;
}
/** By `namespace:name`. */
export type Config = Record<string, ConfigEntry>;

/** Reads a key: `name`, `namespace:name` and the older `namespace:config:name` become `namespace:name`. */
export function configKey(text: string, project: string): string {
  const parts = text.split(":");
  if (parts.length === 1 && text !== "") return `${project}:${text}`;
  if (parts.length === 2 && !parts.includes("")) return text;
  if (parts.length === 3 && parts[1] === "config") return `${parts[0] ?? ""}:${parts[2] ?? ""}`;
  throw new EngineError(`'${text}' is not a configuration key: keys have the form '<namespace>:<name>'`);
}

/** Reads a value as it stands in the YAML file. */
export function configValue(raw: unknown): ConfigValue {
  if (raw === null || raw === undefined) return null;
  if (Array.isArray(raw)) return raw.map(configValue);
  if (isObject(raw)) {
    const entries = Object.entries(raw);
    const [only] = entries;
    if (entries.length === 1 && only?.[0] === "secure" && typeof only[1] === "string") return new Cipher(only[1]);
    return Object.fromEntries(entries.map(([name, value]) => [name, configValue(value)]));
  }
  if (typeof raw === "string" || typeof raw === "number" || typeof raw === "boolean" || typeof raw === "bigint") {
    return raw;
  }
  throw new EngineError(`a configuration value of type ${typeof raw} cannot be used`);
}

const isStructured = (value: ConfigValue): boolean =>
  value === null || (typeof value === "object" && !(value instanceof Cipher));

function isSecret(value: ConfigValue): boolean {
  if (value instanceof Cipher) return true;
  if (Array.isArray(value)) return value.some(isSecret);
  return typeof value === "object" && value !== null && Object.values(value).some(isSecret);
}

/** Decrypts secrets; of what stays encrypted everybody sees the same. */
export type Decrypter = Pick<Crypter, "decrypt">;
const hiding: Decrypter = { decrypt: () => hidden };

function decrypted(value: ConfigValue, crypter: Decrypter): JsonValue {
  if (value instanceof Cipher) return crypter.decrypt(value.text);
  if (Array.isArray(value)) return value.map((element) => decrypted(element, crypter));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, element]) => [name, decrypted(element, crypter)]));
}

export function configEntry(value: ConfigValue, crypter: Decrypter = hiding): ConfigEntry {
  const plain = decrypted(value, crypter);
  return {
    text: typeof plain === "string" ? plain : goJson(plain),
    secret: isSecret(value),
    object: isStructured(value),
  };
}

/** The stack's values and the project's defaults for what it does not set. Secrets are hidden unless a crypter is given. */
export function configOf(values: Record<string, ConfigValue>, project: Project, crypter: Decrypter = hiding): Config {
  const config: Config = {};
  for (const [key, value] of Object.entries(values)) {
    try {
      config[key] = configEntry(value, crypter);
    } catch (error) {
      if (error instanceof EngineError) throw new EngineError(`configuration key '${key}': ${error.message}`);
      throw error;
    }
  }
  for (const [name, { fallback }] of Object.entries(project.config)) {
    if (fallback !== undefined) config[configKey(name, project.name)] ??= defaultEntry(fallback);
  }
  return config;
}

/** The configuration that a program gets: what the project declares is there, and encrypted where it says so. */
export function effectiveConfig(
  values: Record<string, ConfigValue>,
  project: Project,
  stack: string,
  crypter: Crypter,
): Config {
  const config = configOf(values, project, crypter);
  for (const [name, { secret }] of Object.entries(project.config)) {
    const key = configKey(name, project.name);
    const entry = config[key];
    if (entry === undefined && key.startsWith(`${project.name}:`))
      throw new EngineError(`Stack '${stack}' is missing configuration value '${name}'`);
    if (entry && secret && !entry.secret)
      throw new EngineError(`Stack '${stack}' with configuration key '${name}' must be encrypted as it's secret`);
  }
  return config;
}

function defaultEntry(value: unknown): ConfigEntry {
  const plain = configValue(value);
  const whole = typeof plain === "bigint" || (typeof plain === "number" && Number.isInteger(plain));
  if (typeof plain === "string" || typeof plain === "boolean" || whole) {
    return { text: String(plain), secret: false, object: false };
  }
  return { text: goJson(plain as JsonValue), secret: false, object: true };
}

/** Selects the properties of a default provider: its own keys, or the whole configuration for dynamic resources. */
export function providerProperties(config: Config, name: string): PropertyMap {
  const prefix = name === dynamicPackage ? "" : `${name}:`;
  return Object.fromEntries(
    Object.entries(config)
      .filter(([key]) => key.startsWith(prefix))
      .map(([key, { text, secret }]) => [key.slice(prefix.length), secret ? new Secret(text) : text]),
  );
}

export function refuseForeignSecrets(raw: Record<string, unknown>, file: string): void {
  const provider = raw["secretsprovider"];
  if (typeof provider === "string" && provider !== "" && provider !== "passphrase") {
    throw new Refusal(
      `${file}: the secrets provider '${provider.split(":")[0] ?? ""}' is not served by the embedded engine, only 'passphrase': ` +
        "use the Pulumi CLI",
    );
  }
  if (raw["environment"] !== undefined && raw["environment"] !== null) {
    throw new Refusal(`${file}: 'environment' is not served by the embedded engine: use the Pulumi CLI`);
  }
}
