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

/** Every third of some cases in `make test`, beginning with another one for each `turn`; all in `make test-long`. */
export const thirdOf = <Case>(cases: readonly Case[], turn: number): readonly Case[] =>
  isLong ? cases : cases.filter((_, index) => (index + turn) % 3 === 0);

const kinds = ["dynamic", "plugin"] as const;

/** The kinds of provider that a story runs with: both in `make test-long`, else one, which its name decides. */
export const drawnKinds = (name: string): readonly (typeof kinds)[number][] =>
  isLong ? kinds : kinds.filter((_, index) => index === hashOf(name) % kinds.length);

const hashOf = (name: string): number => createHash("sha256").update(name).digest()[0] ?? 0;

const stories = new Map<string, number>();

/** Draws the first of each four stories of a file, through a kind of provider that its name decides. */
function isSampled(name: string, kind: string): boolean {
  const place = stories.get(name) ?? stories.size;
  stories.set(name, place);
  return place % 4 === 0 && drawnKinds(name).some((drawn) => drawn === kind);
}

/**
 * Registers stories that start engines. `make test` runs a quarter of a file's, each through one kind of provider; `make
 * test-long` all of them through both.
 * @param which "all" where each case is a promise of its own: each then runs, through a kind that its name decides
 */
export function testThrough(kind: string, which: "all" | "quarter" = "quarter"): typeof test {
  if (isLong) return test;
  const isDrawn = (name: string): boolean =>
    which === "all" ? drawnKinds(name).some((drawn) => drawn === kind) : isSampled(name, kind);
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
