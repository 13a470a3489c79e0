import { createHmac, createSecretKey, type KeyObject } from "node:crypto";
import { readOwnKey } from "../../../machine/ownKey.ts";

/** The last key in the form in which it seals. */
let last: { key: string; secret: KeyObject } | undefined;

/**
 * A seal that only this user of this machine can make (HMAC-SHA256, in hex); undefined where no key can be kept.
 * @param purpose keeps a seal of one place from being believed in another
 */
export function sealOf(purpose: string, ...parts: readonly unknown[]): string | undefined {
  const key = readOwnKey();
  if (key === undefined) return undefined;
  if (last?.key !== key) last = { key, secret: createSecretKey(key, "hex") };
  return createHmac("sha256", last.secret)
    .update(JSON.stringify([purpose, ...parts]))
    .digest("hex");
}
