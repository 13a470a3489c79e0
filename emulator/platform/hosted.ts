import { randomBytes } from "node:crypto";
import { Database } from "../data/database.ts";
import { newToken } from "../data/hashing.ts";
import { notFound, PlatformError } from "../data/platformError.ts";
import { writeProfile } from "../data/settings.ts";
import { plant, readPlantedSeed } from "../seed/planting.ts";
import { copySnapshot, identifySaving, snapshots } from "../snapshots/snapshots.ts";
import { Instance } from "./instance.ts";
import { Platform } from "./platform.ts";
import { Template } from "./template.ts";

/** A platform that the emulator serves. */
export interface Hosted {
  /** Empty for the main one. */
  name: string;
  platform: Platform;
  instance: Instance;
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

interface KeptTemplate {
  /** Identifies the copied content: when it differs, the template is made again. */
  of: string;
  template: Promise<Template>;
}

/** All platforms of an emulator: those that it was started with, and those on demand, which end with the process. */
export class HostedPlatforms {
  readonly #lasting = new Map<string, Hosted>();
  readonly #made = new Map<string, Made>();
  readonly #templates = new Map<string, KeptTemplate>();
  #making = 0;

  /** Adds one that stays. */
  add(hosted: Hosted): void {
    this.#lasting.set(hosted.name, hosted);
  }

  get main(): Hosted {
    return this.find("");
  }

  find(name: string): Hosted {
    const found = this.#lasting.get(name) ?? this.#made.get(name);
    if (!found) throw new PlatformError("notFound", `there is no tenant ${name}`);
    return found;
  }

  /** Those that the emulator was started with. */
  lasting(): Hosted[] {
    return [...this.#lasting.values()];
  }

  /** Names of those on demand. */
  names(): string[] {
    return [...this.#made.keys()];
  }

  /** Does something with a platform, which stays until it is done; undefined when there is none of this name. */
  async use<Result>(name: string, work: (hosted: Hosted) => Promise<Result>): Promise<Result | undefined> {
    const made = this.#made.get(name);
    if (!made) {
      const hosted = this.#lasting.get(name);
      return hosted && work(hosted);
    }
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
  async make({ from = "seed", ttl }: OnDemand): Promise<Hosted> {
    if (this.#made.size + this.#making >= maxOnDemand) {
      throw new PlatformError(
        "conflict",
        `There are ${maxOnDemand} instances, and no more are made: delete each when its test ends, or give it a ttl`,
      );
    }
    this.#making++;
    try {
      const template = await this.#template(from);
      const { platform, instance } = this.main;
      const name = `on-demand-${randomBytes(8).toString("hex")}`;
      const database = template.copy();
      writeProfile(database, platform.dialect.profile); // it behaves as its emulator does now
      const copy = new Platform(database, platform.options);
      const made: Made = {
        name,
        platform: copy,
        instance: new Instance(copy, `${instance.url}/tenants/${name}`),
        token: newToken(),
        running: 0,
        timer: ttl === undefined ? undefined : setTimeout(() => this.end(name), ttl * 1000).unref(),
      };
      this.#made.set(name, made);
      return made;
    } finally {
      this.#making--;
    }
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
    for (const { platform } of this.#lasting.values()) platform.database.close();
    for (const { template } of this.#templates.values()) void template.then((template) => template.close());
  }

  #closeUnused(made: Made): void {
    if (made.running === 0 && this.#made.get(made.name) !== made) made.platform.database.close();
  }

  #template(from: string): Promise<Template> {
    const { database } = this.main.platform;
    const isSnapshot = snapshots(database).includes(from);
    if (!isSnapshot && from !== "seed") throw notFound("Snapshot", from);
    const of = JSON.stringify([isSnapshot, isSnapshot ? identifySaving(database, from) : readPlantedSeed(database)]);
    const kept = this.#templates.get(from);
    if (kept?.of === of) return kept.template;
    const forget = () => {
      if (this.#templates.get(from)?.of === of) this.#templates.delete(from);
    };
    const made = this.#newTemplate(isSnapshot ? from : undefined);
    made.catch(forget);
    this.#templates.set(from, { of, template: made });
    void kept?.template.then((template) => template.close());
    return made;
  }

  async #newTemplate(snapshot: string | undefined): Promise<Template> {
    const { platform } = this.main;
    const seed = readPlantedSeed(platform.database);
    const database = new Database(":memory:", (fresh) => plant(fresh, seed, platform.now()));
    try {
      if (snapshot !== undefined) await copySnapshot(platform.database, snapshot, database);
      return new Template(database);
    } catch (error) {
      database.close();
      throw error;
    }
  }
}
