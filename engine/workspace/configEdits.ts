import { EngineError } from "../errors.ts";
import { Cipher, type ConfigEntry, configEntry, configKey } from "./config.ts";
import type { Stack } from "./workspace.ts";

/** Sets one key of the stack's configuration; a secret one is encrypted in the stack's file. */
export function setConfig(
  { file, project, crypter }: Stack,
  keyText: string,
  text: string,
  { secret = false }: { secret?: boolean } = {},
): void {
  file.set(configKey(keyText, project.name), secret ? new Cipher(crypter.encrypt(text)) : text);
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
