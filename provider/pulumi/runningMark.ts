import { createHash, randomBytes } from "node:crypto";
import { readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { whyRefused } from "../../machine/failures.ts";
import { makeOwnFolder, pathOfOwnFolder } from "../../machine/ownFolder.ts";
import { birthOf, isRunning } from "../../machine/processes.ts";
import { ResourceError } from "../resources/model/errors.ts";

/** End of the name of a mark whose provider was asked to check declarations: a program runs. */
const declaring = "-declares";

/**
 * The mark of a provider in a run: a file in this user's state folder, named after the run, the platform and the process, until
 * that ends. A run has one provider for each platform, which knows all that the program declares there. Where a second one
 * is marked, neither knows what the other declares, so no row and no person is removed. Without a program, as in a destroy,
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
