import { EngineError, messageOf } from "../errors.ts";
import type { Path } from "../values/paths.ts";
import {
  Cipher,
  coerceText,
  type ConfigEntry,
  configEntry,
  configKey,
  type ConfigValue,
  getAt,
  removeAt,
  setAt,
  splitPath,
} from "./config.ts";
import type { Stack } from "./workspace.ts";

interface ConfigEditOptions {
  /** Encrypts the value in the stack's file; default: false. */
  secret?: boolean;
  /** Reads the key as a path into a structured value, such as `tags.owner` or `names[0]`; default: false. */
  path?: boolean;
}

/** Sets one key of the stack's configuration. */
export function setConfig(
  stack: Stack,
  keyText: string,
  text: string,
  { secret = false, path = false }: ConfigEditOptions = {},
): void {
  const { file, project } = stack;
  const { key, path: place } = located(keyText, project.name, path);
  const plain = secret ? new Cipher(stack.crypter.encrypt(text)) : place.length > 0 ? coerceText(text) : text;
  try {
    file.set(key, setAt(file.values()[key], place, plain, [key.slice(key.indexOf(":") + 1)]));
  } catch (error) {
    throw new EngineError(`could not set config: ${messageOf(error)}`);
  }
  file.save();
}

/** Removes one key of the stack's configuration. */
export function removeConfig(
  stack: Stack,
  keyText: string,
  { path = false }: Pick<ConfigEditOptions, "path"> = {},
): void {
  const { file, project } = stack;
  const { key, path: place } = located(keyText, project.name, path);
  const old = file.values()[key];
  if (old === undefined) return;
  file.set(key, place.length === 0 ? undefined : removeAt(old, place));
  file.save();
}

/** Reads the value of a key in clear; a structured one is JSON. */
export function getConfig(
  stack: Stack,
  keyText: string,
  { path = false }: Pick<ConfigEditOptions, "path"> = {},
): ConfigEntry {
  const { file, project, crypter } = stack;
  const { key, path: place } = located(keyText, project.name, path);
  const found: ConfigValue | undefined = getAt(file.values()[key], place);
  if (found === undefined) {
    const fallback = place.length === 0 ? stack.config()[key] : undefined;
    if (fallback) return fallback;
    throw new EngineError(`configuration key '${keyText}' not found for stack '${stack.name}'`);
  }
  return configEntry(found, crypter);
}

/** Finds the key that a text names and, with `isPath`, the place inside its value. */
const located = (keyText: string, project: string, isPath: boolean): { key: string; path: Path } =>
  isPath ? splitPath(keyText, project) : { key: configKey(keyText, project), path: [] };
