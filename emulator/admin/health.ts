import { readOwnPackage } from "../../machine/ownPackage.ts";
import { usualSwitches, type SwitchName, type Switches } from "../../provider/habits/deviations.ts";
import type { Outgoing } from "../http/server.ts";
import type { HostedPlatforms } from "../platform/hosted.ts";
import { seedDigest } from "../seed/planting.ts";

/** The habits that are not the usual ones. */
const deviationsIn = (habits: Switches): Partial<Switches> =>
  Object.fromEntries(Object.entries(habits).filter(([name, value]) => usualSwitches[name as SwitchName] !== value));

/** Path that answers when the emulator is ready. */
export const healthPath = "/_emulator/health";

/**
 * Reports that the emulator answers, and its seed and habits: it listens once they are in. Nothing of it is secret, so
 * it needs no token and may be asked from other machines, as those who start a container do.
 */
export function health(platforms: HostedPlatforms): Outgoing {
  const { database, dialect } = platforms.main.platform;
  const { version } = readOwnPackage();
  const body = { status: "success", version, seed: seedDigest(database), habits: deviationsIn(dialect.habits) };
  return { status: 200, body, headers: { "cache-control": "no-store" } };
}
