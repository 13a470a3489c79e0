import { EngineError } from "../errors.ts";
import type { Crypter } from "../state/crypter.ts";
import { Cipher, type ConfigEntry, configEntry, configKey, configOf, type Decrypter } from "./config.ts";
import type { FoundStack } from "./workspace.ts";

type Files = Pick<FoundStack, "project" | "name" | "file">;

/** Sets one key of the stack's configuration; with a crypter it is encrypted in the stack's file. */
export async function setConfig(
  { file, project }: Files,
  keyText: string,
  text: string,
  crypter?: Crypter,
): Promise<void> {
  file.set(configKey(keyText, project.name), crypter ? new Cipher(crypter.encrypt(text)) : text);
  await file.save();
}

/** Removes one key of the stack's configuration. */
export async function removeConfig({ file, project }: Files, keyText: string): Promise<void> {
  const key = configKey(keyText, project.name);
  if (file.values()[key] === undefined) return;
  file.set(key, undefined);
  await file.save();
}

/** Reads the value of a key; a structured one is JSON. A secret is hidden unless a crypter is given. */
export function getConfig({ file, project, name }: Files, keyText: string, crypter?: Decrypter): ConfigEntry {
  const key = configKey(keyText, project.name);
  const own = file.values()[key];
  const found = own === undefined ? configOf({}, project)[key] : configEntry(own, crypter);
  if (found) return found;
  throw new EngineError(`configuration key '${keyText}' not found for stack '${name}'`);
}
