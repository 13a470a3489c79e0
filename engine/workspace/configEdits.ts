import { EngineError, messageOf } from "../errors.ts";
import { Cipher, coerceText, type ConfigEntry, configEntry, configKey, setAt, splitPath } from "./config.ts";
import type { Stack } from "./workspace.ts";

/**
 * Sets one key of the stack's configuration.
 * @param secret encrypts the value in the stack's file; default: false
 * @param path reads the key as a path into a structured value, such as `tags.owner` or `names[0]`; default: false
 */
export function setConfig(
  stack: Stack,
  keyText: string,
  text: string,
  { secret = false, path = false }: { secret?: boolean; path?: boolean } = {},
): void {
  const { file, project } = stack;
  const { key, path: place } = path
    ? splitPath(keyText, project.name)
    : { key: configKey(keyText, project.name), path: [] };
  const plain = secret ? new Cipher(stack.crypter.encrypt(text)) : place.length > 0 ? coerceText(text) : text;
  try {
    file.set(key, setAt(file.values()[key], place, plain, [key.slice(key.indexOf(":") + 1)]));
  } catch (error) {
    throw new EngineError(`could not set config: ${messageOf(error)}`);
  }
  file.save();
}

/** Removes one key of the stack's configuration. */
export function removeConfig({ file, project }: Stack, keyText: string): void {
  const key = configKey(keyText, project.name);
  if (file.values()[key] === undefined) return;
  file.set(key, undefined);
  file.save();
}

/** Reads the value of a key in clear; a structured one is JSON. */
export function getConfig(stack: Stack, keyText: string): ConfigEntry {
  const key = configKey(keyText, stack.project.name);
  const own = stack.file.values()[key];
  const found = own === undefined ? stack.config()[key] : configEntry(own, stack.crypter);
  if (found) return found;
  throw new EngineError(`configuration key '${keyText}' not found for stack '${stack.name}'`);
}
