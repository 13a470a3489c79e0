import type { Database } from "../data/database.ts";
import { isPassword, hashToken } from "../data/hashing.ts";
import { defaultAdministrator } from "../seed/schema.ts";

/** Whether an address to listen on is reached by this machine only. */
export const isLoopback = (address: string): boolean => /^(localhost|127\.\d+\.\d+\.\d+|::1)$/.test(address);

/** Whether a Host header is one of this machine's own names. A page of elsewhere whose name leads here has its own. */
export const isOwnHost = (host: string): boolean => /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/.test(host);

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
      `everybody knows: give a seed with an administrator of your own, and a new data file`,
  );
}
