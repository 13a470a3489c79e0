import { expect, test } from "@jest/globals";
import { setImmediate } from "node:timers/promises";
import { newState, type ResourceState } from "./resourceState.ts";
import { Integrity, integrityProblem } from "./snapshot.ts";
import { Snapshot } from "./snapshot.ts";

const state = (name: string, more: Partial<ResourceState> = {}): ResourceState =>
  newState({ urn: `urn:pulumi:s::p::t::${name}`, type: "t", custom: true, id: name, ...more });
/** Lets everything happen that waits for no write. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await setImmediate();
}

test("what comes during a write shares the next one, and is saved when that has ended", async () => {
  const writes: { resources: string; begun: string; end: () => void }[] = [];
  const namesOf = (states: readonly ResourceState[]): string => states.map(({ id }) => id).join("");
  const snapshot = new Snapshot({ resources: [], operations: [], metadata: {} }, ({ resources, operations }) => {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const begun = namesOf(operations.map(({ resource }) => resource));
    writes.push({ resources: namesOf(resources), begun, end: () => resolve(undefined) });
    return promise;
  });
  let saved = "";
  const create = async (name: string): Promise<void> => {
    const one = state(name);
    const operation = await snapshot.begin("creating", one);
    snapshot.end(operation);
    snapshot.markNew(one);
    await snapshot.persist();
    saved += name;
  };
  const running = [create("a")];
  await settled();
  running.push(create("b"), create("c"));
  for (const [number, soFar] of ["", "a", "abc"].entries()) {
    await settled();
    expect(writes).toHaveLength(number + 1);
    writes[number]?.end();
    await settled();
    expect(saved).toBe(soFar);
  }
  await Promise.all(running);
  expect(writes.map(({ resources, begun }) => [resources, begun])).toEqual([
    ["", "a"],
    ["a", "bc"],
    ["abc", ""],
  ]);
});

test("a state that goes on where the last one ended is judged as it would be by itself", () => {
  const integrity = new Integrity();
  const parent = state("parent");
  const replaced = state("child", { parent: parent.urn });
  const child = state("child", { parent: parent.urn });
  const orphan = state("orphan", { dependencies: [state("nobody").urn] });
  const judged = (...resources: ResourceState[]): string | undefined => {
    const problem = integrity.problem(resources);
    expect(problem).toBe(integrityProblem(resources));
    return problem;
  };
  expect(judged(parent, replaced)).toBeUndefined();
  expect(judged(parent, replaced, child)).toContain("is there twice");
  expect(judged(parent, replaced)).toBeUndefined();
  replaced.delete = true;
  expect(judged(parent, replaced, child)).toBeUndefined();
  expect(judged(parent, replaced, child, orphan)).toContain("is missing");
  expect(judged(parent, child)).toBeUndefined();
  expect(judged(child)).toContain("is missing");
  expect(judged(child, parent)).toContain("comes after it");
});
