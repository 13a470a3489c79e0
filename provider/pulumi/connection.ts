import type { Configuration } from "./configuration/configuration.ts";
import type { Platform } from "./platform.ts";

/** The platform of a run: connected once, by the first call that needs it, and by the next one where that fails. */
export class Connection {
  readonly #directory: string;
  readonly #signal: AbortSignal;
  #platform: Promise<Platform> | undefined;

  /** @param signal ends what is under way on the platform */
  constructor({ directory, signal }: { directory: string; signal: AbortSignal }) {
    this.#directory = directory;
    this.#signal = signal;
  }

  async of(settings: Configuration): Promise<Omit<Platform, "close">> {
    // Loaded when it is needed: nothing is sent in most runs.
    this.#platform ??= import("./platform.ts").then(({ connect }) => connect(settings, this.#directory, this.#signal));
    try {
      const { client, members, tables } = await this.#platform;
      return { client, members, tables };
    } catch (error) {
      this.#platform = undefined;
      throw error;
    }
  }
}
