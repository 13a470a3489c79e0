import { setTimeout as wait } from "node:timers/promises";
import type { Switches } from "../../provider/habits/deviations.ts";
import type { ProfileInput } from "../../provider/habits/profile.ts";
import { readProfile } from "../../provider/layers/profileFile.ts";
import { lastSequence, listCalls, type CallFilter, type LoggedCall } from "../data/callLog.ts";
import { writeProfile } from "../data/settings.ts";
import { findAdministrator } from "../data/users.ts";
import { beginSession } from "../endpoints/authentication.ts";
import { listDelivered, type SentNotification } from "../endpoints/notifications.ts";
import type { Ending, Outgoing } from "../http/server.ts";
import { reset } from "../seed/planting.ts";
import * as snapshots from "../seed/snapshots.ts";
import { Faults, type Fault, type FaultPlan } from "./faults.ts";
import type { Incoming, Platform } from "./platform.ts";

/** One platform of an emulator, with the actions of tests and the console. */
export class Instance {
  /** Address for clients, e.g. `http://127.0.0.1:41234`. */
  readonly url: string;
  readonly #platform: Platform;
  readonly #faults = new Faults();

  constructor(platform: Platform, url: string) {
    this.#platform = platform;
    this.url = url;
  }

  /** Resets the platform to its seed, or to its first administrator alone. Drops sessions and the call log, too. */
  reset(to: "seed" | "empty" = "seed"): Promise<void> {
    return Promise.resolve().then(() => reset(this.#platform.database, this.#platform.now(), to));
  }

  /** The calls so far, oldest first. */
  calls(filter: CallFilter = {}): LoggedCall[] {
    return listCalls(this.#platform.database, filter);
  }

  /** Number of the last call, for `calls({ since })`. */
  lastCall(): number {
    return lastSequence(this.#platform.database);
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
    writeProfile(this.#platform.database, readProfile(profile));
  }

  /** Behaves otherwise than a platform should, over its profile, until the next call of this; for tests. */
  behave(otherwise: Partial<Switches> = {}): void {
    this.#platform.otherwise = otherwise;
  }

  /** Notifications to one user, or to all without an address. */
  notifications(email?: string): { inbox: SentNotification[]; pushes: SentNotification[] } {
    return listDelivered(this.#platform.database, email);
  }

  /** Names of the snapshots. */
  snapshots(): string[] {
    return snapshots.snapshots(this.#platform.database);
  }

  /** Saves the platform as a snapshot of this name: in a folder beside the data file, in memory without one. */
  saveSnapshot(name: string): void {
    snapshots.saveSnapshot(this.#platform.database, name);
  }

  /** Restores a snapshot; keeps sessions and the call log. */
  loadSnapshot(name: string): void {
    snapshots.loadSnapshot(this.#platform.database, name);
  }

  /** Saves the platform to an SQLite file. */
  saveSnapshotFile(file: string): Promise<void> {
    return Promise.resolve().then(() => snapshots.saveFile(this.#platform.database, file));
  }

  /** Restores what was saved to a file, with its seed; keeps sessions and the call log. */
  loadSnapshotFile(file: string, shown = file): Promise<void> {
    const load = () => snapshots.load(this.#platform.database, file, shown, () => this.#platform.check());
    return Promise.resolve().then(load);
  }

  deleteSnapshot(name: string): void {
    snapshots.deleteSnapshot(this.#platform.database, name);
  }

  /** Lists what has changed since a snapshot. */
  differences(name: string): snapshots.SnapshotDifference[] {
    return snapshots.differences(this.#platform.database, name);
  }

  /** Signs in as the first administrator, whose password nobody has to know; undefined where there is none. */
  signIn(): { token: string; userId: string } | undefined {
    const { database } = this.#platform;
    const user = findAdministrator(database);
    if (!user) return undefined;
    const { authToken: token, userId } = beginSession(database, user.id, this.#platform.now());
    return { token, userId };
  }

  /** Marks a row as locked or in conflict; returns false when there is no such row. */
  markRow(rowID: string, { isLocked, hasConflict }: { isLocked?: boolean; hasConflict?: boolean }): boolean {
    const bit = (value: boolean | undefined) => (value === undefined ? null : Number(value));
    const sql = "UPDATE rows SET locked = coalesce(?, locked), conflict = coalesce(?, conflict) WHERE id = ?";
    return this.#platform.database.run(sql, bit(isLocked), bit(hasConflict), rowID) > 0;
  }

  /** Puts the platform's clock forward by this time, so that generations end and tokens expire at once. */
  advance(milliseconds: number): void {
    this.#platform.advance(milliseconds);
  }

  /** Answers a call, with the faults that hit it. */
  async answer(incoming: Incoming): Promise<{ outgoing: Outgoing; ending: Ending }> {
    const { ending, expiredToken, delay, name: fault, ...played } = this.#faults.next(incoming.name);
    const began = performance.now();
    if (delay > 0) await wait(delay);
    if (expiredToken) this.#platform.expire(incoming.headers["x-auth-token"]);
    if (!ending)
      return { outgoing: await this.#platform.answer(incoming, { fault, ...played, began }), ending: "answer" };

    const instead = endingOf(ending);
    const carriesOut = ending.commit === true || ending.kind === "brokenJSON";
    const circumstances = { fault, ...played, began, ...(carriesOut ? {} : { instead: instead.outgoing }) };
    const answered = await this.#platform.answer(incoming, circumstances);
    return { outgoing: ending.kind === "brokenJSON" ? answered : instead.outgoing, ending: instead.ending };
  }
}

function endingOf({ kind, status = 500, retryAfter, message = "This failure was asked for" }: Fault): {
  outgoing: Outgoing;
  ending: Ending;
} {
  const body = { status: "failure", message };
  if (kind === "reset") return { outgoing: { status: 0, body: null, headers: {} }, ending: "reset" };
  if (kind === "timeout") return { outgoing: { status: 0, body: null, headers: {} }, ending: "never" };
  if (kind === "brokenJSON") return { outgoing: { status: 200, body: null, headers: {} }, ending: "cut" };
  if (kind === "errorInside") return { outgoing: { status: 200, body, headers: {} }, ending: "answer" };
  const headers: Record<string, string> = retryAfter === undefined ? {} : { "retry-after": String(retryAfter) };
  return { outgoing: { status, body, headers }, ending: "answer" };
}
