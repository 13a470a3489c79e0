import { setTimeout as wait } from "node:timers/promises";
import type { WireNames } from "../../provider/contract/endpoints.ts";
import type { Switches } from "../../provider/habits/deviations.ts";
import type { ProfileInput } from "../../provider/habits/profile.ts";
import { readProfile } from "../../provider/layers/profileFile.ts";
import { type CallFilter, lastSequence, listCalls, type LoggedCall, type NewCall } from "../data/callLog.ts";
import type { Database } from "../data/database.ts";
import { Identifiers } from "../data/hashing.ts";
import { findAdministrator } from "../data/people.ts";
import { DialectReader, type EmulatedDialect, type Settings, writeProfile } from "../data/settings.ts";
import { beginSession, endSession } from "../endpoints/authentication.ts";
import { listDelivered, type SentNotification } from "../endpoints/notifications.ts";
import type { Ending, Outgoing } from "../http/server.ts";
import { reset } from "../seed/planting.ts";
import * as snapshots from "../seed/snapshots.ts";
import { carryOut, type Incoming } from "./call.ts";
import { type Fault, type FaultPlan, Faults } from "./faults.ts";

export interface PlatformOptions {
  now: () => number;
  wireNames: WireNames;
  /** Refuses every call that changes the platform. */
  readOnly: boolean;
  /** Settings that override the seed's. */
  settings: Partial<Settings>;
  /** Takes each call that was logged. */
  onCall?: ((call: NewCall) => void) | undefined;
  /** Throws when a state must not be served. */
  check: (database: Database) => void;
}

/** One platform of an emulator: a database, what its endpoints do with it, and the actions of tests and the console. */
export class Platform {
  readonly database: Database;
  readonly options: PlatformOptions;
  /** Address for clients, e.g. `http://127.0.0.1:41234`. */
  url = "";
  readonly #identifiers = new Identifiers();
  readonly #dialects: DialectReader;
  readonly #faults = new Faults();
  #otherwise: Partial<Switches> = {};
  #ahead = 0;

  constructor(database: Database, options: PlatformOptions) {
    this.database = database;
    this.options = options;
    this.#dialects = new DialectReader(options.settings);
  }

  get dialect(): EmulatedDialect {
    return this.#dialects.read(this.database, this.#otherwise);
  }

  /** Milliseconds since the epoch, by the platform's own clock. */
  now(): number {
    return this.options.now() + this.#ahead;
  }

  newID(now: number, form: Switches["idForm"]): string {
    return form === "number" ? this.#identifiers.nextNumber(now) : this.#identifiers.next(now);
  }

  /** Resets the platform to its seed, or to its first administrator alone. Drops sessions and the call log, too. */
  reset(to: "seed" | "empty" = "seed"): Promise<void> {
    return Promise.resolve().then(() => reset(this.database, this.now(), to));
  }

  /** The calls so far, oldest first. */
  calls(filter: CallFilter = {}): LoggedCall[] {
    return listCalls(this.database, filter);
  }

  /** Number of the last call, for `calls({ since })`. */
  lastCall(): number {
    return lastSequence(this.database);
  }

  /** Replaces the faults to play; without a plan, removes all. Throws for a wrong plan. */
  setFaults(plan: FaultPlan = {}): void {
    this.#faults.set(plan);
  }

  /** The faults to play, each with the number of calls that it has hit. */
  faults(): (Fault & { hit: number })[] {
    return this.#faults.list();
  }

  /** Takes on the habits of a profile, in place of those before; without one, the usual. Throws for a wrong profile. */
  setProfile(profile?: ProfileInput): void {
    writeProfile(this.database, readProfile(profile));
  }

  /** Behaves otherwise than a platform should, over its profile, until the next call of this; for tests. */
  behave(otherwise: Partial<Switches> = {}): void {
    this.#otherwise = otherwise;
  }

  /** Notifications to one user, or to all without an address. */
  notifications(email?: string): { inbox: SentNotification[]; pushes: SentNotification[] } {
    return listDelivered(this.database, email);
  }

  /** Names of the snapshots. */
  snapshots(): string[] {
    return snapshots.snapshots(this.database);
  }

  /** Saves the platform as a snapshot of this name: in a folder beside the data file, in memory without one. */
  saveSnapshot(name: string): void {
    snapshots.saveSnapshot(this.database, name);
  }

  /** Restores a snapshot; keeps sessions and the call log. */
  loadSnapshot(name: string): void {
    snapshots.loadSnapshot(this.database, name);
  }

  /** Saves the platform to an SQLite file. */
  saveSnapshotFile(file: string): Promise<void> {
    return Promise.resolve().then(() => snapshots.saveFile(this.database, file));
  }

  /** Restores what was saved to a file, with its seed; keeps sessions and the call log. */
  loadSnapshotFile(file: string, shown = file): Promise<void> {
    const load = () => snapshots.load(this.database, file, shown, () => this.options.check(this.database));
    return Promise.resolve().then(load);
  }

  deleteSnapshot(name: string): void {
    snapshots.deleteSnapshot(this.database, name);
  }

  /** Lists what has changed since a snapshot. */
  differences(name: string): snapshots.SnapshotDifference[] {
    return snapshots.differences(this.database, name);
  }

  /** Signs in as the first administrator, whose password nobody has to know; undefined where there is none. */
  signIn(): { token: string; userId: string } | undefined {
    const user = findAdministrator(this.database);
    if (!user) return undefined;
    const { authToken: token, userId } = beginSession(this.database, user.id, this.now());
    return { token, userId };
  }

  /** Marks a row as locked or in conflict; returns false when there is no such row. */
  markRow(rowID: string, { isLocked, hasConflict }: { isLocked?: boolean; hasConflict?: boolean }): boolean {
    const bit = (value: boolean | undefined) => (value === undefined ? null : Number(value));
    const sql = "UPDATE rows SET locked = coalesce(?, locked), conflict = coalesce(?, conflict) WHERE id = ?";
    return this.database.run(sql, bit(isLocked), bit(hasConflict), rowID) > 0;
  }

  /** Puts the platform's clock forward by this time, so that generations end and tokens expire at once. */
  advance(milliseconds: number): void {
    this.#ahead += milliseconds;
  }

  /** Answers a call, with the faults that hit it. */
  async answer(incoming: Incoming): Promise<{ outgoing: Outgoing; ending: Ending }> {
    const play = this.#faults.next(incoming.name);
    const began = performance.now();
    const { delay, ending } = play;
    if (delay > 0) await wait(delay);
    const token = incoming.headers["x-auth-token"];
    if (play.expires && token !== undefined) endSession(this.database, token);
    const answered = await carryOut(this, incoming, play, began);
    if (!ending) return { outgoing: answered, ending: "answer" };
    return { outgoing: ending.ending === "cut" ? answered : ending.outgoing, ending: ending.ending };
  }
}

/** What a program does with a platform. */
export type PlatformHandle = Omit<Platform, "answer" | "database" | "options" | "dialect" | "now" | "newID">;
