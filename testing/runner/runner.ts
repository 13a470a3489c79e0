import type { Config, Test, TestResult } from "@jest/reporters";
import { Worker } from "jest-worker";
import { finished } from "node:stream/promises";

/** One test file, and the configuration that its worker needs. */
export interface TestFile {
  path: string;
  config: Config.ProjectConfig;
  global: Pick<Config.GlobalConfig, "testNamePattern" | "testTimeout">;
}

interface Pool extends Worker {
  runFile(file: TestFile): Promise<TestResult>;
}

/** True for tests of the classes that programs use: what a program has registered is one list for each process. */
const hasStateOfProgram = (path: string): boolean => path.includes("/dist/sdk/");

function openPool(numWorkers: number): Pool {
  const exposedMethods = ["runFile"];
  const forkOptions = { serialization: "advanced" as const };
  const pool = new Worker(new URL("worker.js", import.meta.url), { exposedMethods, numWorkers, forkOptions }) as Pool;
  pool.getStdout().pipe(process.stdout);
  pool.getStderr().pipe(process.stderr);
  return pool;
}

/** Ends the workers, and waits until whatever they have started has ended, which holds their output open. */
async function close(pool: Pool): Promise<void> {
  await pool.end();
  const signal = AbortSignal.timeout(maxEndMs);
  await Promise.all([pool.getStdout(), pool.getStderr()].map((stream) => finished(stream, { signal }))).catch(
    (cause: unknown) => {
      throw new Error("a test has left a process behind, which still has the output of the tests open", { cause });
    },
  );
}

const maxEndMs = 30_000;

/**
 * Runs test files in plain Node processes. Jest's own runner loads every module again for each file, in a context that
 * has no compile cache: a third of the processor time of all tests. Here files share what a process has loaded.
 */
export default class Runner {
  readonly supportsEventEmitters = false;
  readonly #global: Config.GlobalConfig;

  constructor(global: Config.GlobalConfig) {
    this.#global = global;
  }

  async runTests(
    tests: readonly Test[],
    watcher: { isInterrupted(): boolean },
    onStart: (test: Test) => Promise<void>,
    onResult: (test: Test, result: TestResult) => Promise<void>,
    onFailure: (test: Test, error: unknown) => Promise<void>,
  ): Promise<void> {
    const { maxWorkers, testNamePattern, testTimeout } = this.#global;
    const shared = openPool(Math.min(maxWorkers, tests.length));
    const waiting = [...tests];
    const runNext = async (): Promise<void> => {
      for (let test = waiting.shift(); test !== undefined && !watcher.isInterrupted(); test = waiting.shift()) {
        await onStart(test);
        const { path, context } = test;
        const pool = hasStateOfProgram(path) ? openPool(1) : shared;
        const run = pool.runFile({ path, config: context.config, global: { testNamePattern, testTimeout } });
        await run.then(
          (result) => onResult(test, result),
          (error: unknown) => onFailure(test, error),
        );
        if (pool !== shared) await close(pool);
      }
    };
    try {
      await Promise.all(Array.from({ length: maxWorkers }, runNext));
    } finally {
      await close(shared);
    }
  }
}
