import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { invalid, PlatformError } from "../data/platformError.ts";
import type { KeptRow } from "./records.ts";
import { scorer, type Search } from "./scoring.ts";

/** Time after which a thread that has nothing to do ends. */
const idleTimeMs = 5000;
/** Most threads; further searches wait for one. */
const maxThreads = 4;
/** Time that a search may take, in milliseconds: in any case, and for each row that it looks at. */
const baseTimeMs = 3000;
const timePerRowMs = 0.25;

/** A search under way. */
export interface Searching {
  scores: (rows: readonly KeptRow[]) => Promise<number[]>;
  end: () => void;
}

/** Threads that try documents by filters. They are started when they are needed, and keep no process from ending. */
class Searchers {
  readonly #idle = new Map<Worker, NodeJS.Timeout>();
  readonly #waiting: (() => void)[] = [];
  #threads = 0;

  /** Begins a search. Rows of harmless filters are tried here until there are too many. */
  begin(search: Search): Searching {
    const here = scorer(search); // refuses wrong filters
    const pattern = patternIn(search.rest);
    let thread: Worker | undefined;
    let seen = 0;
    let spent = 0;
    return {
      scores: async (rows) => {
        seen += rows.length;
        if (rows.length === 0) return [];
        if (seen <= fewRows && (pattern === undefined || isHarmless(pattern))) return here(rows);
        if (!thread) {
          thread = await this.#take();
          thread.postMessage({ search });
          await once(thread, "message");
        }
        const began = performance.now();
        const scores = await answer(thread, rows, baseTimeMs + seen * timePerRowMs - spent);
        spent += performance.now() - began;
        if (scores) return scores;
        this.#drop(thread);
        thread = undefined;
        throw tooSlow(pattern, seen);
      },
      end: () => {
        if (thread) this.#give(thread);
        thread = undefined;
      },
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
    const thread = new Worker(new URL("./searcher.js", import.meta.url));
    thread.unref();
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

/** The scores of a thread; undefined when they take too long. */
async function answer(thread: Worker, rows: readonly KeptRow[], milliseconds: number): Promise<number[] | undefined> {
  const stop = AbortSignal.timeout(Math.max(1, Math.ceil(milliseconds)));
  thread.postMessage({ rows });
  try {
    const [scores] = (await once(thread, "message", { signal: stop })) as [number[]];
    return scores;
  } catch (error) {
    if (stop.aborted) return undefined;
    throw error;
  }
}

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

/** Whether a pattern has nothing that repeats or branches, so that it can't take long. */
const isHarmless = (pattern: string): boolean => !/[+*?{(|\\]/.test(pattern);

function tooSlow(pattern: string | undefined, seen: number): PlatformError {
  if (pattern === undefined || isHarmless(pattern)) {
    return new PlatformError("unavailable", `The machine is too busy to look at ${seen} rows`, { retryAfter: 5 });
  }
  const shown = pattern.length > 60 ? `${pattern.slice(0, 60)}…` : pattern;
  return invalid(`optViewFilters: the pattern ${shown} takes too long: make it simpler`);
}
