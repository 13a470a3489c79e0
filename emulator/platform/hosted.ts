import { randomBytes } from "node:crypto";
import { Database } from "../data/database.ts";
import { newToken } from "../data/hashing.ts";
import { PlatformError } from "../data/platformError.ts";
import { writeProfile } from "../data/settings.ts";
import { plant, readPlantedSeed } from "../seed/planting.ts";
import { placeOf, snapshots, takeAttached } from "../seed/snapshots.ts";
import { Platform } from "./platform.ts";

/** A platform that the emulator serves. */
export interface Hosted {
  /** Empty for the main one. */
  name: string;
  platform: Platform;
  /** Token for what is beside the interface. */
  token: string;
}

/** Source and lifetime of a platform on demand. */
export interface OnDemand {
  /** Name of a snapshot of the main platform, or `seed`. Default: `seed`. */
  from?: string | undefined;
  /** Seconds after which it ends when nobody calls it. Default: it does not. */
  ttl?: number | undefined;
}

/** Most platforms on demand. */
export const maxOnDemand = 500;

interface Made extends Hosted {
  /** Requests that are being answered. */
  running: number;
  timer: NodeJS.Timeout | undefined;
}

/** Path of an instance, below the emulator's address; empty for the main platform. */
export const instancePath = (name: string): string => (name === "" ? "" : `/instances/${name}`);

/** The main platform of an emulator, and those on demand, which end with the process. */
export class HostedPlatforms {
  #main: Hosted | undefined;
  readonly #made = new Map<string, Made>();

  /** Begins with the main platform, whose address is known once the emulator listens. */
  begin(main: Hosted): void {
    this.#main = main;
  }

  get main(): Hosted {
    if (!this.#main) throw new PlatformError("unavailable", "The emulator is starting");
    return this.#main;
  }

  /** Names of those on demand. */
  names(): string[] {
    return [...this.#made.keys()];
  }

  /** Does something with a platform, which stays until it is done; undefined when there is none of this name. */
  async use<Result>(name: string, work: (hosted: Hosted) => Promise<Result>): Promise<Result | undefined> {
    if (name === "") return work(this.main);
    const made = this.#made.get(name);
    if (!made) return undefined;
    made.running++;
    made.timer?.refresh();
    try {
      return await work(made);
    } finally {
      made.running--;
      made.timer?.refresh();
      this.#closeUnused(made);
    }
  }

  /** Makes a platform: a copy of what a snapshot of the main one or its seed has. */
  make({ from = "seed", ttl }: OnDemand): Hosted {
    if (this.#made.size >= maxOnDemand) {
      throw new PlatformError(
        "conflict",
        `There are ${maxOnDemand} instances, and no more are made: delete each when its test ends, or give it a ttl`,
      );
    }
    const { platform } = this.main;
    const name = `on-demand-${randomBytes(8).toString("hex")}`;
    const database = filledFrom(platform, from);
    writeProfile(database, platform.dialect.profile); // it behaves as its emulator does now
    const copy = new Platform(database, platform.options);
    copy.url = `${platform.url}${instancePath(name)}`;
    const made: Made = {
      name,
      platform: copy,
      token: newToken(),
      running: 0,
      timer: ttl === undefined ? undefined : setTimeout(() => this.end(name), ttl * 1000).unref(),
    };
    this.#made.set(name, made);
    return made;
  }

  /** Ends one that was made; requests under way are answered first. Returns false when there is none of this name. */
  end(name: string): boolean {
    const made = this.#made.get(name);
    if (!made) return false;
    this.#made.delete(name);
    clearTimeout(made.timer);
    this.#closeUnused(made);
    return true;
  }

  close(): void {
    for (const name of this.names()) this.end(name);
    this.main.platform.database.close();
  }

  #closeUnused(made: Made): void {
    if (made.running === 0 && this.#made.get(made.name) !== made) made.platform.database.close();
  }
}

/** A database in memory with what a snapshot of a platform or its seed has. */
function filledFrom(platform: Platform, from: string): Database {
  const { database } = platform;
  const isSeed = from === "seed" && !snapshots(database).includes(from);
  const snapshot = isSeed ? undefined : placeOf(database, from);
  const fill = (fresh: Database) =>
    isSeed ? plant(fresh, readPlantedSeed(database), platform.now()) : takeAttached(fresh);
  return new Database(":memory:", fill, snapshot);
}
