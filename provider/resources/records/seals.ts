import { createHmac } from "node:crypto";
import { readOwnKey } from "../../../machine/ownKey.ts";

/**
 * A seal that only this user of this machine can make (HMAC-SHA256, in hex); undefined where no key can be kept.
 * @param purpose keeps a seal of one place from being believed in another
 */
export function sealOf(purpose: string, ...parts: readonly unknown[]): string | undefined {
  const key = readOwnKey();
  if (key === undefined) return undefined;
  return createHmac("sha256", Buffer.from(key, "hex"))
    .update(JSON.stringify([purpose, ...parts]))
    .digest("hex");
}
