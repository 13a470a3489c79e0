import { isDeepStrictEqual } from "node:util";
import { ApiError } from "../../contract/errors.ts";
import type { Configuration } from "../configuration/configuration.ts";
import { withPresentKeys } from "../configuration/keys.ts";
import { accountKeys } from "../configuration/origins.ts";
import { connect } from "../platform.ts";
import type { Properties } from "../properties.ts";

/** Time-out (ms) for the login of a preview, which may be offline. */
const loginTimeoutMs = 10_000;

/**
 * What the platform says against the credentials of a provider that is in the state already: a wrong password would be
 * saved with "unchanged", and fail in the next run. They are tried when they are other ones than those of the last run,
 * and before drift is looked for; a platform that can't be reached refuses nobody.
 */
export async function refusedLogin(olds: Properties, news: Properties, settings: Configuration): Promise<string[]> {
  if (Object.keys(olds).length === 0) return []; // nothing was made: the first call tells
  const [last, next] = [withPresentKeys(olds), withPresentKeys(news)];
  const changed = ["endpoint", ...accountKeys].some((key) => !isDeepStrictEqual(last[key], next[key]));
  const emulated = settings.endpoint.startsWith("emulator:"); // which takes a while to start
  if (!changed && (emulated || settings.driftOnPreview === false)) return [];
  try {
    await tried(settings);
    return [];
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "unauthorized") return [];
    return [`the platform refuses the login, and the state keeps the one that it has: ${error.message}`];
  }
}

async function tried(settings: Configuration): Promise<void> {
  const { client, close } = await connect({ ...settings, readOnly: true }, process.cwd(), undefined, {
    retries: { attempts: 1, connects: 1 },
    timeouts: { call: loginTimeoutMs },
  });
  try {
    await client.callerID();
    // A token is not logged in with: any answer but a refusal is good enough.
    if (settings.token !== undefined) await client.readorganization({ organizationID: "none" });
  } finally {
    await close();
  }
}
