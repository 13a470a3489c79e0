import { ownPackage } from "../../machine/ownPackage.ts";
import type { Outgoing } from "../http/server.ts";
import type { HostedPlatforms } from "../platform/hosted.ts";
import { seedDigest } from "../seed/planting.ts";

/** Path of the answer that says whether the emulator is ready. */
export const healthPath = "/_emulator/health";

/**
 * Says that the emulator answers, and with which seeds: it listens once they are in. Nothing of it is secret, so it
 * needs no token and may be asked from other machines, as those who start a container do.
 */
export function health(platforms: HostedPlatforms): Outgoing {
  const instances = Object.fromEntries(
    platforms.lasting().map(({ name, platform }) => [name, { seed: seedDigest(platform.database) }]),
  );
  const body = { status: "success", version: ownPackage().version, instances };
  return { status: 200, body, headers: { "cache-control": "no-store" } };
}
