import { expect, test } from "@jest/globals";
import { newState } from "../state/resourceState.ts";
import { hasUncreated } from "./invokeDependencies.ts";

const custom = (urn: string, id: string, parent = "") => newState({ urn, id, parent, custom: true, type: "t" });
const component = (urn: string, parent = "") => newState({ urn, parent, custom: false, type: "c" });
const news = new Map(
  [
    component("outer"),
    component("inner", "outer"),
    custom("new", "", "inner"),
    custom("old", "1", "outer"),
    custom("child", "", "old"),
    component("whole"),
    custom("made", "2", "whole"),
  ].map((state) => [state.urn, state]),
);

test.each([
  [["old"], false],
  [["new"], true],
  [["outer"], true],
  [["whole", "old"], false],
  [["whole", "inner"], true],
  [["elsewhere"], false],
  [[], false],
])("%j wait: %s", (urns, waits) => {
  expect(hasUncreated(news, urns)).toBe(waits);
});
