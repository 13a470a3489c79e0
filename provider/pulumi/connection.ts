import type { FieldType } from "../../platform/contract/fields.ts";
import { completeDialect, type Dialect } from "../../platform/profile/profile.ts";
import { readProfile } from "../layers/profileFile.ts";
import type { ListWaits } from "../people/teamLists.ts";
import type { Configuration } from "./configuration/configuration.ts";
import type { PlatformAccess } from "./platform.ts";

/** Surroundings of a connection to a platform. */
export interface Surroundings {
  /** The program's folder. */
  directory: string;
  /** Aborts when the run is cancelled or its engine has ended. */
  signal: AbortSignal;
  /** True in the engine's own process, which goes on after the run. */
  isHosted?: boolean;
  /** How long lists of members wait and are kept, where not as usual. */
  waits?: ListWaits | undefined;
}

/** The platform of a run: connected once, by the first call that needs it, and by the next one where that fails. */
export class PlatformConnection {
  readonly #surroundings: Surroundings;
  #platform: Promise<PlatformAccess> | undefined;
  /** The connection whose notes were passed on. */
  #noted: Promise<PlatformAccess> | undefined;
  #dialect: Dialect | undefined;
  #refusal: Promise<Error | undefined> | undefined;

  constructor(surroundings: Surroundings) {
    this.#surroundings = surroundings;
  }

  /** How the platform behaves, as the configuration's profile has it. */
  dialect({ profile }: Configuration): Dialect {
    return (this.#dialect ??= completeDialect(readProfile(profile, this.#surroundings.directory)));
  }

  /** @param note gets what the start of the platform has to say, once */
  async of(
    settings: Configuration,
    note: (text: string) => void,
  ): Promise<Omit<PlatformAccess, "close" | "release" | "notes">> {
    const { directory, signal, waits } = this.#surroundings;
    // Loaded when it is needed: nothing is sent in most runs.
    this.#platform ??= import("./platform.ts").then(({ connect }) => connect(settings, directory, signal, { waits }));
    try {
      const { client, members, tables, notes } = await this.#platform;
      if (this.#noted !== this.#platform) {
        this.#noted = this.#platform;
        notes.forEach(note);
      }
      return { client, members, tables };
    } catch (error) {
      this.#platform = undefined;
      throw error;
    }
  }

  /** Ends the session, if there is one; in the engine's process what was started alone, as the end of a host does. */
  async close(): Promise<void> {
    const platform = await this.#platform?.catch(() => undefined);
    this.#platform = undefined;
    await (this.#surroundings.isHosted ? platform?.release() : platform?.close());
  }

  /**
   * Tries the login, once in a run, and throws the same refusal each time. A run that changes nothing asks the platform for
   * nothing else, and would be "unchanged" with a login that fails. The emulator of an endpoint guards nothing, and takes a
   * while to start.
   */
  async assertLogin(settings: Configuration): Promise<void> {
    if (settings.endpoint.startsWith("emulator:")) return;
    this.#refusal ??= import("./platform.ts").then(({ refusalOf }) => refusalOf(settings));
    const refusal = await this.#refusal;
    if (refusal) throw refusal;
  }
}

type FieldTypes = Readonly<Record<string, FieldType>>;

/** Field types of the tables behind an emulator's endpoint, read once and without starting it. */
export class EmulatorFields {
  readonly #directory: string;
  #tables: Promise<Readonly<Record<string, FieldTypes>>> | undefined;

  /** `directory` is the program's folder. */
  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Types of a table's fields by label; undefined of a table without any, and where the endpoint is no emulator's. */
  async of(endpoint: string, table: string): Promise<FieldTypes | undefined> {
    if (!endpoint.startsWith("emulator:")) return undefined;
    // Loaded when it is needed: an engine waits for a provider to start.
    this.#tables ??= import("../../emulator/fieldsAt.ts").then(({ fieldTypesAt }) =>
      fieldTypesAt(endpoint, this.#directory),
    );
    return (await this.#tables)[table];
  }
}
