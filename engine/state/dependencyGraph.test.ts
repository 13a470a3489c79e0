import { expect, test } from "@jest/globals";
import { DependencyGraph } from "./dependencyGraph.ts";
import { newState, type ResourceState } from "./resourceState.ts";

const state = (name: string, more: Partial<ResourceState> = {}): ResourceState =>
  newState({ urn: `urn:pulumi:s::p::t::${name}`, type: "t", custom: true, id: name, ...more });

test("what waits for its deletion is not what a live resource needs", () => {
  const replaced = state("parent", { id: "old", delete: true });
  const parent = state("parent", { id: "new" });
  const child = state("child", { parent: parent.urn });
  const oldChild = state("child", { parent: parent.urn, delete: true });
  const needed = new DependencyGraph([replaced, parent, child, oldChild]);
  expect(needed.allDependenciesOf(child)).toEqual(new Set([child, parent]));
  expect(needed.allDependenciesOf(oldChild)).toEqual(new Set([oldChild, replaced]));
});
