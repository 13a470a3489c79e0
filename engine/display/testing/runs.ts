import type { PropertyChange } from "../../events.ts";
import { events, printed } from "./events.ts";

const renamed: PropertyChange[] = [
  { path: "name", kind: "update", old: "web", new: "site" },
  { path: "tags[1]", kind: "add", new: "b" },
  { path: "token", kind: "add", new: "[secret]" },
  { path: "gone", kind: "delete", old: true },
  { path: "rows.AT", kind: "update" },
  { path: "teamId", kind: "update", old: "team-1", new: "[unknown]" },
];

const preview = events(true);
/** A new stack, with a secret, an unknown and every kind of change. */
export const firstPreview = [
  preview.start(),
  preview.step("create", "stack"),
  printed("hello\n"),
  preview.step("create", "group"),
  preview.step("create", "team", {
    properties: { name: "core", __provider: "code", tags: ["a"], token: "[secret]", id: "[unknown]" },
  }),
  preview.done("create", "team"),
  preview.step("update", "app", { id: "app-1", changes: renamed }),
  preview.done("update", "app", { id: "app-1", changes: renamed }),
  preview.done("create", "group"),
  preview.done("create", "stack"),
  preview.summary({
    changes: { create: 3, update: 1 },
    outputs: { teamId: "[unknown]", list: [1, { a: "x" }] },
    outputChanges: [
      { path: "teamId", kind: "add", new: "[unknown]" },
      { path: "list", kind: "add", new: [1, { a: "x" }] },
    ],
  }),
];

const refresh = events(false, "refresh");
const driftChanges: PropertyChange[] = [{ path: "size", kind: "update", old: 1, new: 9 }];
export const drift = [
  refresh.start(),
  refresh.step("refresh", "stack"),
  refresh.done("same", "stack"),
  refresh.step("refresh", "team"),
  refresh.step("refresh", "app", { id: "app-1" }),
  refresh.done("same", "team"),
  refresh.done("update", "app", { id: "app-1", changes: driftChanges }, 3.9),
  refresh.summary({ changes: { update: 1, same: 2 }, outputs: { size: 1 } }),
];

const destroy = events(false, "destroy");
export const destruction = [
  destroy.start(),
  destroy.step("delete", "team", { id: "team-1", properties: { name: "core", nest: { deep: ["x"] } } }),
  destroy.done("delete", "team", { id: "team-1" }),
  destroy.step("delete", "group"),
  destroy.done("delete", "group"),
  destroy.step("delete", "stack"),
  destroy.done("delete", "stack"),
  destroy.summary({
    changes: { delete: 3 },
    outputChanges: [{ path: "teamId", kind: "delete", old: "team-1" }],
    seconds: 61.2,
  }),
];
