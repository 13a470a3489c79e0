import { expect, test } from "@jest/globals";
import type { DetailedChange, Difference } from "../providers/provider.ts";
import { parsePath } from "../values/paths.ts";
import { Secret } from "../values/values.ts";
import { toDetailedChanges, invertDifference } from "./resourceDiff.ts";

const detail = (...given: [path: string, kind: DetailedChange["kind"], input?: boolean][]) =>
  given.map(([path, kind, input = true]) => ({ path: parsePath(path), change: { kind, input, replaces: false } }));

const olds = {
  inputs: { rows: { AT: { name: "Austira" }, DE: { name: "Germany" } }, list: [1, 2], token: new Secret({ a: 1 }) },
  outputs: { serial: 1 },
};
const news = { rows: { AT: { name: "Austria" }, CH: { name: "Switzerland" } }, list: [1], token: new Secret({ a: 2 }) };
const changes = (...given: Parameters<typeof detail>) =>
  toDetailedChanges(detail(...given), olds, { inputs: news, outputs: news });

test("each path is shown with the values that stand there", () => {
  expect(changes(['rows["AT"].name', "update"], ["list[1]", "delete"])).toEqual([
    { path: ["rows", "AT", "name"], kind: "update", old: "Austira", new: "Austria" },
    { path: ["list", 1], kind: "delete", old: 2 },
  ]);
});

test("what is new or gone on the way there is so as a whole, and once", () => {
  expect(changes(['rows["CH"].name', "add"], ['rows["CH"].code', "add"], ['rows["DE"].name', "update"])).toEqual([
    { path: ["rows", "CH"], kind: "add", new: { name: "Switzerland" } },
    { path: ["rows", "DE"], kind: "delete", old: { name: "Germany" } },
  ]);
});

test("what stands on neither side has no value, and what is secret is not opened", () => {
  expect(changes(['file["more"]', "add"], ["token.a", "update"])).toEqual([
    { path: ["file", "more"], kind: "add" },
    { path: ["token", "a"], kind: "update", old: olds.inputs.token, new: news.token },
  ]);
});

test("old values are those of the outputs unless the provider says inputs", () => {
  expect(changes(["serial", "update", false], ["serial2", "update"])).toEqual([
    { path: ["serial"], kind: "update", old: 1, new: null },
    { path: ["serial2"], kind: "update" },
  ]);
});

test("a refresh shows the way back", () => {
  const difference: Difference = { changes: "some", replaces: [], changed: [], deleteBeforeReplace: false };
  expect(invertDifference({ ...difference, detail: detail(["a", "add"], ["b", "delete"]) }).detail).toEqual(
    detail(["a", "delete"], ["b", "add"]),
  );
  expect(invertDifference(difference)).toEqual(difference);
});
