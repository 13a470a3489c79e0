import { createEmptyTestResult, type AssertionResult, type TestResult } from "@jest/test-result";
import type { Circus } from "@jest/types";
import circus, { addEventHandler, afterAll, afterEach, getState, resetState, run } from "jest-circus";
import { formatResultsErrors } from "jest-message-util";
import { registerHooks } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { runEndings } from "./endings.ts";
import { expect, jest } from "./globals.ts";
import type { TestFile } from "./runner.ts";

const globals = import.meta.resolve("./globals.js");
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === "@jest/globals" ? { url: globals, shortCircuit: true } : next(specifier, context),
});

// For what is shared with programs that run without Jest and so can't import it.
Object.assign(globalThis, circus, { expect });
addEventHandler((event) => {
  if (event.name === "test_start") expect.setState({ currentTestName: nameOf(event.test) });
});

/** Things that a file may change for the others in this process, from before the first one. */
interface ProcessState {
  folder: string;
  variables: NodeJS.ProcessEnv;
}

let initial: Promise<ProcessState> | undefined;
// A plugin in a test's process plays that it works elsewhere.
const cwd = process.cwd.bind(process);

/** Runs one test file. A failure to load it rejects. */
export async function runFile({ path: file, config, global }: TestFile): Promise<TestResult> {
  initial ??= setUp(config.setupFilesAfterEnv);
  const { folder, variables } = await initial;
  resetState();
  const state = getState();
  state.testTimeout = global.testTimeout ?? config.testTimeout;
  state.testNamePattern = global.testNamePattern ? new RegExp(global.testNamePattern, "i") : null;
  expect.setState({ testPath: file, currentTestName: undefined });
  const start = Date.now();
  afterEach(() => runEndings("test"));
  afterAll(() => runEndings("file"));
  const restoreHandlers = catchErrors(state);
  try {
    await import(pathToFileURL(file).href);
    const { testResults, unhandledErrors } = await run();
    return toTestResult({ file, start, config }, testResults, unhandledErrors);
  } finally {
    restoreHandlers();
    jest.useRealTimers();
    jest.restoreAllMocks();
    process.cwd = cwd;
    process.chdir(folder);
    restoreVariables(variables);
  }
}

async function setUp(files: readonly string[]): Promise<ProcessState> {
  for (const file of files) await import(pathToFileURL(file).href);
  return { folder: process.cwd(), variables: { ...process.env } };
}

function restoreVariables(variables: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (!(name in variables)) Reflect.deleteProperty(process.env, name);
  Object.assign(process.env, variables);
}

/** Lets an error that nothing caught fail the test that runs, or the file. */
function catchErrors(state: Circus.State): () => void {
  const addError = (error: unknown): void => {
    const { currentlyRunningTest, unhandledErrors } = getState();
    const entry: [unknown, Error] = [error, error instanceof Error ? error : new Error(String(error))];
    if (currentlyRunningTest === null || currentlyRunningTest === undefined) unhandledErrors.push(entry);
    else currentlyRunningTest.errors.push(entry);
  };
  process.on("uncaughtException", addError);
  process.on("unhandledRejection", addError);
  state.parentProcess = process;
  state.originalGlobalErrorHandlers = { uncaughtException: [], unhandledRejection: [], rejectionHandled: [] };
  return () => {
    process.off("uncaughtException", addError);
    process.off("unhandledRejection", addError);
  };
}

/** Titles of a test and of the blocks around it, without the root. */
function nameOf(test: Circus.TestEntry): string {
  const titles: string[] = [test.name];
  for (let { parent } = test; parent.parent !== undefined; { parent } = parent as Required<Circus.DescribeBlock>) {
    titles.unshift(parent.name);
  }
  return titles.join(" ");
}

const statuses = { skip: "pending", todo: "todo" } as const;

function toAssertion({ errors, status, testPath, duration, failing }: Circus.TestResult): AssertionResult {
  const [, ...titles] = testPath;
  const title = titles.pop() ?? "";
  return {
    ancestorTitles: titles,
    title,
    fullName: [...titles, title].join(" "),
    status: status === "done" ? (errors.length > 0 ? "failed" : "passed") : statuses[status],
    duration: duration ?? null,
    failing,
    failureDetails: [],
    failureMessages: [...errors],
    numPassingAsserts: 0,
  };
}

function toTestResult(
  { file, start, config }: { file: string; start: number; config: TestFile["config"] },
  tests: Circus.TestResults,
  unhandled: readonly string[],
): TestResult {
  const testResults = tests.map(toAssertion);
  const count = (status: AssertionResult["status"]): number =>
    testResults.filter((result) => result.status === status).length;
  const end = Date.now();
  const empty = createEmptyTestResult();
  const failed = formatResultsErrors(testResults, config, { noStackTrace: false }, file);
  return {
    ...empty,
    testFilePath: file,
    testResults,
    numPassingTests: count("passed"),
    numFailingTests: count("failed"),
    numPendingTests: count("pending"),
    numTodoTests: count("todo"),
    skipped: testResults.length > 0 && testResults.every(({ status }) => status === "pending"),
    failureMessage: failed,
    perfStats: {
      ...empty.perfStats,
      start,
      end,
      runtime: end - start,
      slow: end - start > config.slowTestThreshold * 1000,
    },
    ...(unhandled.length > 0 && {
      failureMessage: [failed ?? "", ...unhandled].join("\n\n"),
      testExecError: { message: unhandled.join("\n\n"), stack: path.basename(file) },
    }),
  };
}
