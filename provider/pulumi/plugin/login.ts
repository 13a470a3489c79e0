import { isDeepStrictEqual } from "node:util";
import type { Configuration } from "../configuration/configuration.ts";
import { accountKeys } from "../configuration/origins.ts";
import { refusalOf } from "../platform.ts";
import type { Properties } from "../properties.ts";

/**
 * The platform's refusal of the credentials of a provider that is in the state already: a wrong password would be saved
 * with "unchanged", and fail in the next run. They are tried when they differ from those of the last run, and before
 * drift is looked for; a platform that can't be reached refuses nobody.
 */
export async function tryLogin(olds: Properties, news: Properties, settings: Configuration): Promise<string[]> {
  if (Object.keys(olds).length === 0) return []; // nothing was made: the first call finds out
  const changed = ["endpoint", ...accountKeys].some((key) => !isDeepStrictEqual(olds[key], news[key]));
  const emulated = settings.endpoint.startsWith("emulator:"); // which takes a while to start
  if (!changed && (emulated || settings.driftOnPreview === false)) return [];
  const refusal = await refusalOf(settings);
  return refusal ? [`the platform refuses the login, and the state keeps the one that it has: ${refusal.message}`] : [];
}
