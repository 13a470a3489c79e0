import type { WireNames } from "../platform/contract/endpoints.ts";
import { profile, type ProfileInput } from "../platform/profile/profile.ts";
import { seed as contents, type Seed, type SeedInput, type Settings } from "../platform/seed/schema.ts";
import { readsBody } from "./admin/actions.ts";
import type { NewCall } from "./data/callLog.ts";
import { Database, makeFolders, toOpeningError } from "./data/database.ts";
import { newToken, requireLongToken } from "./data/hashing.ts";
import { writeProfile } from "./data/settings.ts";
import { listen } from "./http/server.ts";
import type { FaultPlan } from "./platform/faults.ts";
import { HostedPlatforms, type OnDemand } from "./platform/hosted.ts";
import { Platform, type PlatformHandle } from "./platform/platform.ts";
import { type ExposureOptions, readExposure, refuseKnownCredentials, routeRequests } from "./routing.ts";
import { checked, noSeedFiles, type SeedFiles } from "./seed/checking.ts";
import { followSeed, plant, replaceSeed, withoutSecrets, type SeedNews } from "./seed/planting.ts";
import { takeAttached } from "./seed/snapshots.ts";

/** Options of an emulator; all may be left out. */
export interface EmulatorOptions extends ExposureOptions {
  /** Path of the data file, made when it is missing. Default: `:memory:`, which keeps the data in memory. */
  data?: string | undefined;
  /** YAML file, or object, with tables, users and settings. Read when the data file is new; later only tables and fields that it has got are added. */
  seed?: string | SeedInput | undefined;
  /** Puts an old data file to what the seed has now, and drops the rest of it. Default: false. */
  reseed?: boolean | undefined;
  /** Administrator in place of the seed's. Default: the seed's. */
  administrator?: { email: string; password: string; apiKey?: string | undefined } | undefined;
  /** File that a snapshot was saved to, in place of a seed: it has its own. Read once, when the data file is new. */
  snapshot?: string | undefined;
  /** Folder of the program that names the seed, which must be a file of that program's repository. Default: any file. */
  program?: string | undefined;
  /** Port to listen on. Default: 0, a free one. */
  port?: number | undefined;
  /** Token for `/_emulator/`, of 16 letters, digits, hyphens or underscores at least. Default: a new one at each start. */
  token?: string | undefined;
  /** Runs for each call when the log has it. Default: nothing does. */
  onCall?: ((call: NewCall) => void) | undefined;
  /** Lets the process end while the emulator is open. Default: false. */
  unref?: boolean | undefined;
  /** Returns the time in milliseconds since the epoch. Default: `Date.now`. */
  now?: (() => number) | undefined;
  /** Names that clients spell differently on the wire, ours → theirs. Default: none. */
  wireNames?: WireNames | undefined;
  /** Refuses every call that changes the platform. Default: false. */
  readOnly?: boolean | undefined;
  /**
   * `platform-profile.yaml`, or its content: the emulator behaves as that platform was seen to behave. Kept in the data
   * file until another one is given. Default: that of the data file or the seed.
   */
  profile?: string | ProfileInput | undefined;
  /** Settings that override the seed's while this emulator runs. */
  settings?: Partial<Settings> | undefined;
  /** Faults to play from the start. Default: none. */
  faults?: FaultPlan | undefined;
}

/** A running emulator, and its main platform. */
export interface Emulator extends PlatformHandle, Readonly<SeedNews> {
  /** Token for `/_emulator/`, sent as `authorization: Bearer <token>`. New at each start unless one was given. */
  token: string;
  /** Address of the console, which carries the token. */
  console: string;
  /** Lets running requests end, then closes port and data files. */
  close: () => Promise<void>;
  /** Makes a further platform in memory, such as one for each test: a copy of a snapshot or of the seed. */
  instance: (options?: OnDemand) => Promise<OnDemandInstance>;
  /** Names of those that `instance` made and that have not ended. */
  instances: () => string[];
}

/** A platform that was made while the emulator runs. */
export interface OnDemandInstance extends PlatformHandle {
  /** It is reached at `<url>/instances/<name>`. */
  name: string;
  /** Its token for `/_emulator/`. */
  token: string;
  /** Ends it; calls under way are answered first. */
  close: () => Promise<void>;
}

/** Starts an emulator on this machine. Rejects with a SeedError for a wrong seed or profile; `files` reads those that are files. */
export async function createEmulator(options: EmulatorOptions = {}, files: SeedFiles = noSeedFiles): Promise<Emulator> {
  const { data = ":memory:", port = 0, host = "127.0.0.1", unref = false, now = Date.now, wireNames = {} } = options;
  const { readOnly = false, settings = {}, onCall } = options;
  const known = profileOf(options, files);
  const exposure = readExposure(options);
  makeFolders(data);
  const token = options.token === undefined ? newToken() : requireLongToken(options.token);
  const check = (database: Database) => refuseKnownCredentials(database, host);
  const readSeed = () => seedOf(options, files);
  const database = opened(data, options, readSeed, check);
  try {
    const isCompared = !database.fresh && options.seed !== undefined;
    const news = isCompared ? followSeed(database, readSeed, now()) : { added: [], differs: [] };
    if (known) writeProfile(database, known);
    check(database);
    const platform = new Platform(database, { now, wireNames, readOnly, settings, onCall, check });
    const platforms = new HostedPlatforms();
    const answering = routeRequests(platforms, {
      wireNames: { ...platform.dialect.profile?.wireNames, ...wireNames },
      ...exposure,
    });
    const listening = await listen(answering, { host, port, unref, readsBody });
    platform.url = exposure.publicUrl ?? listening.url;
    platforms.begin({ name: "", platform, token });
    if (options.faults) platform.setFaults(options.faults);
    let closing: Promise<void> | undefined;
    const close = () => (closing ??= listening.close().finally(() => platforms.close()));
    const makeInstance = (options: OnDemand = {}): Promise<OnDemandInstance> =>
      Promise.resolve().then(() => {
        const { platform, name, token } = platforms.make(options);
        const close = () => Promise.resolve(void platforms.end(name));
        return Object.assign(platform, { name, token, close });
      });
    const instances = () => platforms.names();
    const console = `${listening.url}/#token=${token}`;
    return Object.assign(platform, { close, instance: makeInstance, instances, token, console, ...news });
  } catch (error) {
    database.close();
    throw error;
  }
}

function seedOf({ seed, program }: EmulatorOptions, files: SeedFiles): Seed {
  return typeof seed === "string" ? files.seed(seed, program) : checked(contents, seed ?? {}, "seed");
}

function profileOf({ profile: source, program }: EmulatorOptions, files: SeedFiles) {
  if (source === undefined) return undefined;
  return typeof source === "string" ? files.profile(source, program) : checked(profile, source, "profile");
}

/** Opens a data file. A new one is planted with its seed or a snapshot, and stays empty when `check` throws for that. */
function opened(
  file: string,
  { seed: source, snapshot, administrator: chosen, now = Date.now, reseed = false }: EmulatorOptions,
  readSeed: () => Seed,
  check: (database: Database) => void,
): Database {
  if (source !== undefined && snapshot !== undefined) {
    throw new Error("give a seed or a snapshot: a snapshot has the seed that it was made with");
  }
  if (reseed && source === undefined) throw new Error("taking a seed anew needs one: give a seed");
  const plannedSeed = () => {
    const seed = readSeed();
    return withoutSecrets({ ...seed, administrator: chosen ?? seed.administrator });
  };
  try {
    const database = new Database(
      file,
      (fresh) => {
        if (snapshot === undefined) plant(fresh, plannedSeed(), now());
        else takeAttached(fresh);
        check(fresh);
      },
      snapshot,
    );
    if (reseed && !database.fresh) replaceSeed(database, plannedSeed(), now(), check);
    return database;
  } catch (error) {
    throw toOpeningError(file, error);
  }
}
