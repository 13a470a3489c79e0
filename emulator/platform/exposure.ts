import { isLoopback, isOwnHost } from "../../machine/hosts.ts";
import type { Database } from "../data/database.ts";
import { isPassword, hashToken } from "../data/hashing.ts";
import { defaultAdministrator } from "../seed/schema.ts";

const isAddress = (host: string): boolean => /^(\d+\.\d+\.\d+\.\d+|\[[\da-f:.]+\])(:\d+)?$/i.test(host);

/**
 * Decides by its Host header whether a request is meant for this emulator. DNS rebinding makes a foreign page a caller
 * of this machine: it comes under a name of its own. Where other machines reach the emulator any name may lead here,
 * unless the names are listed. The public address counts as listed.
 */
export function hostCheck(
  address: string,
  names: readonly string[],
  publicUrl: string | undefined,
): (host: string) => boolean {
  const open = !isLoopback(address) && names.length === 0;
  const listed = new Set(names.map((name) => name.toLowerCase()));
  if (publicUrl !== undefined) listed.add(new URL(publicUrl).host);
  const isListed = (host: string) => listed.has(host) || listed.has(host.replace(/:\d+$/, ""));
  return (host) => open || isOwnHost(host) || isListed(host.toLowerCase()) || (!isLoopback(address) && isAddress(host));
}

/** Throws when other machines reach a platform with credentials that everybody knows. */
export function refuseKnownCredentials(database: Database, address: string): void {
  if (isLoopback(address)) return;
  const { email, password, apiKey } = defaultAdministrator;
  const user = database.one<{ password: string | null }>("SELECT password FROM users WHERE email = ?", email);
  const known = user?.password ? isPassword(password, user.password) : false;
  const key = database.one("SELECT 1 FROM api_keys WHERE key = ?", hashToken(apiKey)) !== undefined;
  if (!known && !key) return;
  throw new Error(
    `other machines reach ${address}, and the ${known ? "password" : "key"} of the administrator is the one that ` +
      `everybody knows: give a seed with an administrator of your own, or MICROAPPS_EMULATOR_PASSWORD, and a new data file`,
  );
}
