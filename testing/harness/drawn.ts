import type { test as jestTest } from "@jest/globals";
import { createHash } from "node:crypto";

// The global one: what runs without Jest draws as well, and can't import it.
declare const test: typeof jestTest;

/** True for `make test-long`, which runs every case through both kinds of provider. */
export const isLong = process.env["TEST_LONG"] === "1";

/** Registers a story that `make test-long` alone runs, since others of its file show most of it. */
export const testInLong = (name: string, work: () => Promise<void>, timeout?: number): void => {
  if (isLong) test(name, work, timeout);
};

/** The first cases of a table in `make test`, all of them in `make test-long`. */
export const sampleOf = <Case>(cases: readonly Case[], count: number): readonly Case[] =>
  isLong ? cases : cases.slice(0, count);

/** One of this many stories and cases runs in `make test`. */
const share = 5;

/** One of each few cases in `make test`, beginning with another one for each `turn`; all in `make test-long`. */
export function partOf<Case>(cases: readonly Case[], turn: number, of = share): readonly Case[] {
  const drawn = cases.filter((_, index) => isLong || (index + turn) % of === 0);
  return drawn.length > 0 ? drawn : cases.slice(0, 1);
}

/** One of some cases in `make test`, which a name decides; all of them in `make test-long`. */
export const drawnFrom = <Case>(cases: readonly Case[], name: string): readonly Case[] =>
  isLong ? cases : cases.filter((_, index) => index === hashOf(name) % cases.length);

/** The kinds of provider that a story runs with. */
export const drawnKinds = (name: string): readonly ("dynamic" | "plugin")[] => drawnFrom(["dynamic", "plugin"], name);

const hashOf = (name: string): number => createHash("sha256").update(name).digest()[0] ?? 0;

/** A `test` for stories that start engines: `make test` runs the first of each few, `make test-long` all of them. */
export function sampleStories(): typeof test {
  let count = 0;
  return registering(() => count++ % share === 0);
}

/**
 * Registers cases of which each is a promise of its own: `make test` runs each through one kind of provider, which its name
 * decides, `make test-long` through both.
 */
export const testThrough = (kind: string): typeof test =>
  registering((name) => drawnKinds(name).some((drawn) => drawn === kind));

/** A `test` for stories of which `make test` runs half, which their names decide, and `make test-long` all. */
export const halfOfTests = (): typeof test => registering((name) => drawnFrom([true, false], name).some(Boolean));

function registering(isDrawn: (name: string) => boolean): typeof test {
  if (isLong) return test;
  const one = (name: string, ...more: unknown[]): void => {
    if (isDrawn(name)) Reflect.apply(test, undefined, [name, ...more]);
  };
  const each =
    (cases: readonly unknown[]) =>
    (name: string, ...more: unknown[]): void => {
      const drawn = cases.filter((values, index) => isDrawn(`${name} ${index} ${JSON.stringify(values)}`));
      if (drawn.length > 0) Reflect.apply(test.each(drawn), undefined, [name, ...more]);
    };
  return Object.assign(one, { each }) as unknown as typeof test; // of Jest's `test` these suites use no more
}
