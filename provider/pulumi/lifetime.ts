import { createHash, randomBytes } from "node:crypto";
import { readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:http2";
import { hostname } from "node:os";
import { join } from "node:path";
import { whyRefused } from "../../machine/failures.ts";
import { makeOwnFolder, pathOfOwnFolder } from "../../machine/ownFolder.ts";
import { birthOf, isRunning } from "../../machine/processes.ts";
import { ResourceError } from "../resources/common.ts";

/** Milliseconds for running calls to end: no engine gets their answers, but the journal keeps them. */
const gracePeriodMs = 1_500;

/**
 * Ends this process when its engine has ended: after a kill it would go on creating things that nobody records. `stop`
 * ends running operations between two calls, and the process ends soon after.
 * @param address where the engine listens
 */
export function endWithEngine(address: string | undefined, stop: () => void): void {
  let ending = false;
  const end = (): void => {
    if (ending) return;
    ending = true;
    // First of all, so that nothing that goes wrong with the rest keeps the process.
    setTimeout(() => process.exit(1), gracePeriodMs);
    stop();
  };
  // Of a process whose parent has ended another one is the parent.
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) end();
  }, 250).unref();
  if (address !== undefined) onEngineEnd(address, end);
}

/** Refusals in a row after which nobody listens any more: one alone may be a full queue. */
const maxRefusals = 3;

/** Milliseconds until the next attempt after a refusal, and after a connection that did not last. */
const pauseMs = { refused: 100, brief: 1_000 };

/**
 * Calls `onEnd` once when the engine at this address has ended, which closes an idle connection to it. The connection
 * speaks HTTP/2: a gRPC server drops one that stays silent, and waits for it at its own end. It keeps no process alive.
 */
export function onEngineEnd(address: string, onEnd: () => void): void {
  const url = `http://${address}`;
  if (!URL.canParse(url)) return;
  let refusals = 0;
  const look = (): void => {
    const began = performance.now();
    const session = connect(url);
    session.unref();
    session.once("connect", () => (refusals = 0));
    session.on("error", (error: NodeJS.ErrnoException) => {
      refusals = error.code === "ECONNREFUSED" ? refusals + 1 : 0;
    });
    session.once("close", () => {
      if (refusals >= maxRefusals) {
        onEnd();
        return;
      }
      const lasted = performance.now() - began > pauseMs.brief;
      const pause = refusals > 0 ? pauseMs.refused : lasted ? 0 : pauseMs.brief;
      setTimeout(look, pause).unref();
    });
  };
  look();
}

/** End of the name of a mark whose provider was asked to check declarations: a program runs. */
const declaring = "-declares";

/**
 * The mark of a provider in a run: a file in this user's state folder, named after the run, the platform and the process, until
 * that ends. A run has one provider for each platform, which knows all that the program declares there. Where a second one
 * is marked, neither knows what the other declares, so nothing is removed. Without a program, as in a destroy,
 * nothing is declared.
 */
export class RunningMark {
  readonly #engine: string | undefined;
  readonly #platform: () => string;
  #provider = randomBytes(8).toString("hex");
  /** File name of this process's own. */
  #own: string | undefined;
  /** Why it could not be set. */
  #reason: string | undefined;

  /** @param engine the address of the run's engine; without one there is no other provider */
  constructor(engine: string | undefined, platform: () => string) {
    this.#engine = engine || undefined;
    this.#platform = platform;
  }

  /** @param urn of the provider, where it is known: one that takes the place of another is none beside it */
  set(urn?: string): void {
    if (this.#engine === undefined || this.#own !== undefined) return;
    if (urn) this.#provider = digestOf(urn);
    const { folder, reason } = makeOwnFolder("state", "running", process.env);
    this.#reason = reason;
    if (reason !== undefined) return;
    const { startTime = "0" } = birthOf(process.pid) ?? {};
    const name = [this.#run(), this.#provider, process.pid, startTime, randomBytes(4).toString("hex")].join("-");
    const about = { platform: this.#platform(), engine: this.#engine, pid: process.pid };
    try {
      writeFileSync(join(folder, name), JSON.stringify(about), { mode: 0o600, flag: "wx" });
      this.#own = name;
      open.add(this);
    } catch (error) {
      this.#reason = whyRefused(error);
    }
  }

  /** Notes that the program declares something for this process. */
  declares(): void {
    this.set();
    if (this.#own === undefined || this.#own.endsWith(declaring)) return;
    try {
      renameSync(pathOf(this.#own), pathOf(this.#own + declaring));
      this.#own += declaring;
    } catch (error) {
      this.#reason = whyRefused(error);
    }
  }

  /** Throws when this run has another provider of the platform, which may declare what is to be removed. */
  readonly assertAlone = (): void => {
    if (this.#engine === undefined) return;
    const { folder, reason = this.#reason } = makeOwnFolder("state", "running", process.env);
    if (reason !== undefined) {
      throw new ResourceError(
        `nothing was removed, since nobody can know if this run has another provider of ${this.#platform()}: ${reason}. ` +
          `Make ${folder} usable, or set XDG_STATE_HOME to a folder of your own.`,
      );
    }
    const others = this.#others(folder);
    if (others.length === 0 || ![this.#own, ...others].some((name) => name?.endsWith(declaring))) return;
    throw new ResourceError(
      `nothing was removed, since this run has another provider of ${this.#platform()}, and one does not know what the other ` +
        "declares. Give all resources of a platform the same provider: to move some there, set retainOnDelete on them and run " +
        "up first. To delete them, run destroy, for some of them with --target.",
    );
  };

  /** The process, or its run, ends. */
  close(): void {
    open.delete(this);
    if (this.#own !== undefined) rmSync(pathOf(this.#own), { force: true });
    this.#own = undefined;
  }

  /** Marks of other providers of this run; removes those of processes that have ended. */
  #others(folder: string): string[] {
    const marks = readdirSync(folder);
    const ended = marks.filter(hasEnded);
    for (const name of ended) rmSync(join(folder, name), { force: true });
    const [run, own] = [`${this.#run()}-`, `${this.#run()}-${this.#provider}-`];
    return marks.filter((name) => name.startsWith(run) && !name.startsWith(own) && !ended.includes(name));
  }

  /** Where processes have numbers of their own, the engine and the platform. */
  #run(): string {
    return digestOf(machineOf(), this.#engine, this.#platform());
  }
}

/** Marks that the end of this process removes. */
const open = new Set<RunningMark>();
process.once("exit", () => {
  for (const mark of open) mark.close();
});

const pathOf = (name: string): string => join(pathOfOwnFolder("state", "running", process.env), name);

const digestOf = (...parts: readonly unknown[]): string =>
  createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 16);

function machineOf(): string {
  const birth = birthOf();
  return birth ? `${birth.bootID} ${birth.pidNamespace}` : hostname();
}

/** True if the process of a mark has ended; its number may be another one's by now. */
function hasEnded(name: string): boolean {
  const [, , pid = "", startTime = ""] = name.split("-");
  if (!isRunning(Number(pid))) return true;
  const birth = birthOf(Number(pid));
  return birth !== undefined && startTime !== birth.startTime;
}
