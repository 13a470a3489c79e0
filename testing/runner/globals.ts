import { jestExpect } from "@jest/expect";
import { ModernFakeTimers } from "@jest/fake-timers";
import { ModuleMocker } from "jest-mock";

/** Stands in for `@jest/globals` in the processes of the runner. */
export { afterAll, afterEach, beforeAll, beforeEach, describe, it, test } from "jest-circus";
export { jestExpect as expect };

const mocks = new ModuleMocker(globalThis);
const timers = new ModernFakeTimers({ config: { rootDir: process.cwd(), testMatch: [] } as never, global: globalThis });

/** The part of Jest's object that tests use. */
export const jest = {
  spyOn: mocks.spyOn.bind(mocks),
  restoreAllMocks: (): void => mocks.restoreAllMocks(),
  useFakeTimers: (options?: { now?: number }): void => timers.useFakeTimers(options),
  useRealTimers: (): void => timers.useRealTimers(),
  advanceTimersByTime: (milliseconds: number): void => timers.advanceTimersByTime(milliseconds),
  advanceTimersByTimeAsync: (milliseconds: number): Promise<void> => timers.advanceTimersByTimeAsync(milliseconds),
  getTimerCount: (): number => timers.getTimerCount(),
};
