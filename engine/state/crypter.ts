import { createCipheriv, createDecipheriv, pbkdf2, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { EngineError, messageOf } from "../errors.ts";

const derive = promisify(pbkdf2);
const keys = new Map<string, Promise<Buffer>>();

/** Derives a key once per process, passphrase and salt: a million rounds take a third of a second. */
function keyFor(passphrase: string, salt: Buffer): Promise<Buffer> {
  const name = `${salt.toString("hex")} ${passphrase}`;
  const key = keys.get(name) ?? derive(passphrase, salt, 1_000_000, 32, "sha256");
  keys.set(name, key);
  return key;
}

/** Encrypts and decrypts as Pulumi's passphrase provider does: AES-256-GCM, `v1:<nonce>:<ciphertext and tag>`. */
export class Crypter {
  /** `v1:<salt>:<the encrypted word "pulumi">`: `encryptionsalt` of the stack's file, `salt` in the state. */
  readonly salt: string;
  readonly #key: Buffer;
  /** Ciphertexts of the state by place and text: an unchanged secret keeps its ciphertext. */
  readonly #known = new Map<string, string>();

  constructor(key: Buffer, salt: string) {
    this.#key = key;
    this.salt = salt;
  }

  encrypt(text: string): string {
    const nonce = randomBytes(12);
    const cipher = createCipheriv("aes-256-gcm", this.#key, nonce);
    const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
    return `v1:${nonce.toString("base64")}:${sealed.toString("base64")}`;
  }

  decrypt(sealed: string): string {
    const [version, nonce, body] = sealed.split(":");
    if (version !== "v1" || nonce === undefined || body === undefined) {
      throw new EngineError("a secret is not in the form 'v1:<nonce>:<ciphertext>' of the passphrase provider");
    }
    const bytes = Buffer.from(body, "base64");
    try {
      const decipher = createDecipheriv("aes-256-gcm", this.#key, Buffer.from(nonce, "base64"));
      decipher.setAuthTag(bytes.subarray(-16));
      return Buffer.concat([decipher.update(bytes.subarray(0, -16)), decipher.final()]).toString("utf8");
    } catch {
      throw new EngineError("a secret cannot be decrypted: was it encrypted with another passphrase?");
    }
  }

  /** Decrypts a secret of the state and remembers its ciphertext for `encryptAt` of the same place. */
  decryptAt(place: string, sealed: string): string {
    const text = this.decrypt(sealed);
    this.#known.set(`${place}\n${text}`, sealed);
    return text;
  }

  encryptAt(place: string, text: string): string {
    const name = `${place}\n${text}`;
    const sealed = this.#known.get(name) ?? this.encrypt(text);
    this.#known.set(name, sealed);
    return sealed;
  }
}

/** Makes a crypter with a new salt, for a stack that has none yet. */
export async function newCrypter(passphrase: string): Promise<Crypter> {
  const salt = randomBytes(8);
  const key = await keyFor(passphrase, salt);
  const check = new Crypter(key, "").encrypt("pulumi");
  return new Crypter(key, `v1:${salt.toString("base64")}:${check}`);
}

/** Opens the crypter of a salt. Fails when the passphrase is another one. */
export async function openCrypter(salt: string, passphrase: string): Promise<Crypter> {
  const [version, encoded, ...check] = salt.split(":");
  if (version !== "v1" || encoded === undefined || check.length !== 3) {
    throw new EngineError("'encryptionsalt' is not in the form 'v1:<salt>:<check>' of the passphrase provider");
  }
  const crypter = new Crypter(await keyFor(passphrase, Buffer.from(encoded, "base64")), salt);
  let word = "";
  try {
    word = crypter.decrypt(check.join(":"));
  } catch {
    // Reported below: a check that cannot be decrypted means the same as one with another word.
  }
  if (word !== "pulumi") {
    throw new EngineError("incorrect passphrase: set PULUMI_CONFIG_PASSPHRASE to the one this stack was created with");
  }
  return crypter;
}

/** True if the environment holds the passphrase, which may be empty. */
export const hasPassphrase = (environment: NodeJS.ProcessEnv): boolean =>
  environment["PULUMI_CONFIG_PASSPHRASE"] !== undefined || !!environment["PULUMI_CONFIG_PASSPHRASE_FILE"];

/** Reads the passphrase from the environment variables of Pulumi. */
export function passphraseFrom(environment: NodeJS.ProcessEnv): string {
  const passphrase = environment["PULUMI_CONFIG_PASSPHRASE"];
  if (passphrase !== undefined) return passphrase;
  const file = environment["PULUMI_CONFIG_PASSPHRASE_FILE"];
  if (file === undefined || file === "") {
    throw new EngineError(
      "passphrase must be set with PULUMI_CONFIG_PASSPHRASE or PULUMI_CONFIG_PASSPHRASE_FILE environment variables",
    );
  }
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new EngineError(`unable to read PULUMI_CONFIG_PASSPHRASE_FILE: ${messageOf(error)}`);
  }
}
