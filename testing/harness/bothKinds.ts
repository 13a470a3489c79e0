import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { drawnKinds, halfOfTests, isLong } from "./drawn.ts";
import { here } from "./inProcessPlugin.ts";
import * as testedKinds from "./kinds.ts";
import type { TestedKind } from "./providerHost.ts";
import { Stage, type Traced } from "./stage.ts";

// A case starts several providers.

/** Stands for a value that is known only once other resources exist. */
export const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** A stage that is set again for each test, where Ada is among the users. */
export class Scene extends Stage {
  providerKind: TestedKind;

  constructor(providerKind: TestedKind) {
    super();
    this.providerKind = providerKind;
  }

  set(seed: object): Promise<void> {
    return this.begin({ users: [{ email: "ada@example.com" }], ...seed }, {}, this.providerKind);
  }

  /** The message and the state that an update or create of an unfinished thing leaves. */
  async failure(work: Promise<unknown>): Promise<{ message: string; id: string; state: Record<string, unknown> }> {
    const error = await work.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({ message: expect.any(String) as unknown, properties: expect.anything() as unknown });
    const { message, id, properties } = error as { message: string; id: string; properties: Record<string, unknown> }; // just seen
    // The host of dynamic resources would forget this property.
    if (this.providerKind === testedKinds.dynamic) expect(properties["__provider"]).toEqual(expect.any(String));
    return { message, id, state: properties };
  }
}

/**
 * Runs the cases on a platform from `seed`. `make test` has the plugin in the test's own process, but for those of
 * `testInOwnProcess`, whose kind it draws; `make test-long` starts both kinds for each case, and compares at the end: the
 * same case made the same calls and gave the same outputs with both.
 * @param sharing the kinds of provider where all cases of a kind share one platform and project, which they must leave as
 * good as new
 */
export function throughBothKinds(
  seed: Record<string, unknown> | (() => object),
  cases: (scene: Scene) => void,
  sharing?: readonly TestedKind[],
): void {
  const set = (scene: Scene) => scene.set(typeof seed === "function" ? seed() : seed);
  if (isLong || sharing) compareKinds(set, cases, sharing);
  else describe("with a drawn kind of provider:", () => runWithDrawnKinds(set, cases));
}

const ownProcess = " (in a process of its own)";

/** The name of a case that always runs with a provider in a process of its own, since nothing else holds its promise. */
export const inOwnProcess = (name: string): string => name + ownProcess;

const drawnTest = halfOfTests();

/** Registers a case in which a provider is killed, ends in order or stands beside another one: `make test` runs half of them. */
export const testInOwnProcess = Object.assign(
  (name: string, work: () => Promise<void>): void => drawnTest(name + ownProcess, work),
  {
    each:
      <Case>(cases: readonly Case[]) =>
      (name: string, work: (one: Case) => Promise<void>): void =>
        drawnTest.each([...cases])(name + ownProcess, work),
  },
);

function runWithDrawnKinds(set: (scene: Scene) => Promise<void>, cases: (scene: Scene) => void): void {
  const scene = new Scene(testedKinds.plugin);
  beforeEach(async () => {
    const name = expect.getState().currentTestName ?? "";
    const [kind = "plugin"] = drawnKinds(name);
    scene.providerKind = name.endsWith(ownProcess) ? testedKinds[kind] : here;
    await set(scene);
  });
  afterEach(() => scene.clear());
  cases(scene);
}

function compareKinds(
  set: (scene: Scene) => Promise<void>,
  cases: (scene: Scene) => void,
  sharing: readonly TestedKind[] | undefined,
): void {
  const traces = new Map<string, Record<string, string[]>>();
  const drawn = isLong ? Object.values(testedKinds) : (sharing ?? []);

  describe.each(drawn)("with the $name provider:", (providerKind) => {
    const scene = new Scene(providerKind);
    if (sharing) {
      beforeAll(() => set(scene));
      afterAll(() => scene.clear());
    }
    let begun: Traced;
    beforeEach(async () => {
      if (!sharing) await set(scene);
      begun = scene.traced();
    });
    afterEach(async () => {
      const name = (expect.getState().currentTestName ?? "").replace(/^.*? provider: /, "");
      traces.set(name, { ...traces.get(name), [providerKind.name]: scene.trace(begun) });
      if (!sharing) await scene.clear();
    });
    cases(scene);
  });

  if (drawn.length === 1) return;
  test("the same case makes the same calls and gives the same outputs with both kinds of provider", () => {
    expect(traces.size).toBeGreaterThan(0);
    for (const [name, byKind] of traces) {
      expect([name, Object.keys(byKind).toSorted()]).toEqual([name, ["dynamic", "plugin"]]);
      const { dynamic = [], plugin = [] } = byKind;
      expect([name, ...plugin]).toEqual([name, ...dynamic]);
      expect([name, dynamic.length]).not.toEqual([name, 0]);
    }
  });
}
