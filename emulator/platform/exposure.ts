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
function hostCheck(
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

/** How an emulator may be reached. */
export interface Exposure {
  /** True if a Host header names this emulator. */
  isOurs: (host: string) => boolean;
  /** Address that clients are given; that of their own request when it is left out. */
  publicUrl: string | undefined;
  /** Origins whose pages may call the platform. */
  origins: readonly string[];
  /** True if other machines administrate it, with its token. */
  allowAdmin: boolean;
}

export interface ExposureOptions {
  /** Address to listen on. Default: 127.0.0.1, which only this machine reaches. */
  host?: string | undefined;
  /** Further names, such as `platform.test`, that requests may have in their Host header. Default: none. */
  allowHosts?: readonly string[] | undefined;
  /** Address that clients reach it by, such as a proxy's. Default: that of the request at hand. */
  publicUrl?: string | undefined;
  /** Origins, such as `http://localhost:5173`, whose pages a browser lets call the platform. Default: none. */
  allowOrigins?: readonly string[] | undefined;
  /** Lets other machines use `/_emulator/`, with the token. Default: false, this machine alone. */
  allowAdmin?: boolean | undefined;
}

/** Reads how an emulator may be reached; throws for an address or origin that is none. */
export function readExposure(options: ExposureOptions): Exposure {
  const { host = "127.0.0.1", allowHosts = [], allowOrigins = [], allowAdmin = false } = options;
  const publicUrl = options.publicUrl?.replace(/\/+$/, "");
  if (publicUrl !== undefined && !isWebAddress(publicUrl)) {
    throw new Error("the public address must be an http(s) address, such as https://platform.example.com");
  }
  const origins = allowOrigins.map((origin) => {
    const named = isWebAddress(origin) ? new URL(origin).origin : undefined;
    if (named === origin.replace(/\/$/, "").toLowerCase()) return named;
    const every = origin === "*" ? ": with * any page that is open on this machine would reach it" : "";
    throw new Error(`the origin ${origin} must be one of pages, such as http://localhost:5173${every}`);
  });
  return { isOurs: hostCheck(host, allowHosts, publicUrl), publicUrl, origins, allowAdmin };
}

const isWebAddress = (text: string): boolean => /^https?:$/.test(URL.parse(text)?.protocol ?? "");

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
