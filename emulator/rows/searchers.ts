import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { invalid, PlatformError } from "../data/platformError.ts";
import type { KeptRow } from "./records.ts";
import { scorer, type TextSearch } from "./scoring.ts";

/** Time after which a thread that has nothing to do ends. */
const idleTimeMs = 5000;
/** Most threads; further searches wait for one. */
const maxThreads = 4;
/** Time that a search may take, in milliseconds: in any case, and for each row that it looks at. */
const baseTimeMs = 3000;
const timePerRowMs = 0.25;
/** Time that a thread may take to start, in milliseconds. */
const startTimeMs = 60_000;

/** A search under way. */
export interface Searching {
  scores: (rows: readonly KeptRow[]) => Promise<number[]>;
  end: () => void;
}

/** How often the rows of one search are tried on another thread when theirs ends by itself. */
const maxRestarts = 3;

const startThread = (): Worker => new Worker(new URL("./searcher.js", import.meta.url));

/** Threads that try documents by filters. They are started when they are needed, and keep no process from ending. */
export class Searchers {
  readonly #idle = new Map<Worker, NodeJS.Timeout>();
  readonly #waiting: (() => void)[] = [];
  readonly #start: () => Worker;
  #threads = 0;

  /** @param start starts a thread of `searcher.ts` */
  constructor(start = startThread) {
    this.#start = start;
  }

  /** Begins a search. Rows of harmless filters are tried here until there are too many. */
  begin(search: TextSearch): Searching {
    const here = scorer(search); // refuses wrong filters
    const pattern = patternIn(search.rest);
    let thread: Worker | undefined;
    let seen = 0;
    let spent = 0;
    let restarts = 0;
    const end = (finish: (thread: Worker) => void): void => {
      if (thread) finish(thread);
      thread = undefined;
    };
    const scoresOf = async (rows: readonly KeptRow[]): Promise<number[]> => {
      let began = performance.now();
      try {
        if (!thread) {
          thread = await this.#take();
          await answer(thread, { search }, startTimeMs);
          began = performance.now();
        }
        return await answer(thread, { rows }, baseTimeMs + seen * timePerRowMs - spent);
      } catch (error) {
        end((ended) => this.#drop(ended));
        if (!(error instanceof ThreadEnded)) throw tooSlow(pattern, seen);
        if (restarts++ === maxRestarts) throw threadEnds(error);
        return await scoresOf(rows);
      } finally {
        spent += performance.now() - began;
      }
    };
    return {
      scores: async (rows) => {
        seen += rows.length;
        if (rows.length === 0) return [];
        if (seen <= fewRows && (pattern === undefined || isHarmless(pattern))) return here(rows);
        return scoresOf(rows);
      },
      end: () => end((thread) => this.#give(thread)),
    };
  }

  async #take(): Promise<Worker> {
    for (const [thread, timer] of this.#idle) {
      clearTimeout(timer);
      this.#idle.delete(thread);
      return thread;
    }
    if (this.#threads >= maxThreads) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
      return this.#take();
    }
    this.#threads++;
    const thread = this.#start();
    thread.unref();
    thread.on("error", ignored);
    return thread;
  }

  #give(thread: Worker): void {
    const ends = () => {
      this.#idle.delete(thread);
      this.#drop(thread);
    };
    this.#idle.set(thread, setTimeout(ends, idleTimeMs).unref());
    this.#waiting.shift()?.();
  }

  #drop(thread: Worker): void {
    this.#threads--;
    void thread.terminate();
    this.#waiting.shift()?.();
  }
}

/** The threads of this process. */
export const searchers = new Searchers();

/** Rows that are tried at once; more of them would be felt by others. */
const fewRows = 250;

/** A thread that ended by itself. */
class ThreadEnded extends Error {}

/** The thread's client receives its error; an idle thread that ends is replaced at the next request. */
const ignored = (): void => undefined;

/** The answer of a thread. Rejects with ThreadEnded when it has ended, or ends meanwhile, and otherwise when it takes too long. */
async function answer(
  thread: Worker,
  message: { search: TextSearch } | { rows: readonly KeptRow[] },
  milliseconds: number,
): Promise<number[]> {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), Math.max(1, Math.ceil(milliseconds)));
  const { signal } = stop;
  const ended = async (): Promise<never> => {
    if (thread.threadId !== -1) await once(thread, "exit", { signal });
    throw new Error("it ended by itself");
  };
  try {
    thread.postMessage(message);
    const [scores] = await Promise.race([once(thread, "message", { signal }) as Promise<[number[]]>, ended()]);
    return scores;
  } catch (error) {
    throw signal.aborted ? error : new ThreadEnded(error instanceof Error ? error.message : "it failed");
  } finally {
    clearTimeout(timer);
    stop.abort();
  }
}

const threadEnds = ({ message }: ThreadEnded): PlatformError =>
  new PlatformError(
    "serverError",
    `The thread that looks at the rows ended ${maxRestarts + 1} times (${message}): make the filters simpler, or give the emulator more memory`,
  );

/** The first pattern of filters that is not harmless, or any; undefined without one. */
function patternIn(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  let found: string | undefined;
  for (const [key, inner] of Object.entries(value)) {
    const pattern = key === "$regex" ? String(inner) : patternIn(inner);
    if (pattern !== undefined && (found === undefined || isHarmless(found))) found = pattern;
  }
  return found;
}

/** True if a pattern has nothing that repeats or branches, so that it can't take long. */
const isHarmless = (pattern: string): boolean => !/[+*?{(|\\]/.test(pattern);

function tooSlow(pattern: string | undefined, seen: number): PlatformError {
  if (pattern === undefined || isHarmless(pattern)) {
    return new PlatformError("unavailable", `The machine is too busy to look at ${seen} rows`, { retryAfter: 5 });
  }
  const shown = pattern.length > 60 ? `${pattern.slice(0, 60)}…` : pattern;
  return invalid(`optViewFilters: the pattern ${shown} takes too long: make it simpler`);
}
