import { afterEach, beforeEach, expect, test as always } from "@jest/globals";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { sampleStories } from "../../testing/harness/drawn.ts";
import { reportFailure } from "../cli/cli.ts";
import { hasChanges } from "../deployment/result.ts";
import { EngineError } from "../errors.ts";
import type { ResourceState } from "../state/resourceState.ts";
import { nameOf } from "../values/urns.ts";
import { Sandbox } from "./sandbox.ts";

const test = sampleStories();

/** Resources and components as a list: name, inputs (`@a` is the ID of resource a), options. */
const program = `
const pulumi = require("@pulumi/pulumi");
const made = {};
for (const [name, inputs, { parent, component, deletedWith, ...options }] of require("./resources.json")) {
  const opts = { ...options, parent: made[parent], deletedWith: made[deletedWith] };
  const props = Object.fromEntries(Object.entries(inputs).map(([key, value]) => [key, String(value).startsWith("@") ? made[value.slice(1)].id : value]));
  made[name] = component
    ? new pulumi.ComponentResource("t:i:Group", name, props, opts)
    : new pulumi.CustomResource("pulumi-nodejs:dynamic/t:App", name, { __provider: 'exports.handler=()=>require("./prov.cjs")', name, ...props }, opts);
  if (options.outputs) made[name].registerOutputs(options.outputs);
}
exports.none = null;
`;
type Row = [name: string, inputs: Record<string, unknown>, options?: Record<string, unknown>];

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = new Sandbox({ "index.cjs": program });
  await sandbox.init();
});
afterEach(() => {
  sandbox.remove();
});
async function up(...rows: Row[]): ReturnType<Sandbox["run"]> {
  const text = JSON.stringify(rows.map(([name, inputs, options = {}]) => [name, inputs, options]));
  writeFileSync(path.join(sandbox.project, "resources.json"), text);
  return sandbox.run();
}
async function states(): Promise<Map<string, ResourceState>> {
  const { resources } = await (await sandbox.stack()).read();
  return new Map(resources.map((state) => [nameOf(state.urn), state]));
}
const calls = (ran: { calls: unknown[][] }, method: string): unknown[] => ran.calls.filter(([name]) => name === method);

test("a dependent deleted ahead of its turn and then not registered leaves the state in the same run", async () => {
  await up(["a", { kind: "k1", dbr: true }], ["b", { teamId: "@a" }]);
  const ran = await up(["a", { kind: "k2", dbr: true }]);
  expect(ran.succeeded).toBe(true);
  expect(calls(ran, "delete")).toHaveLength(2);
  expect([...(await states()).keys()]).not.toContain("b");
});

test("a resource that is created anew has no old inputs to go back to", async () => {
  const b = (note: string): Row => ["b", { teamId: "@a", note }, { ignoreChanges: ["note"] }];
  await up(["a", { kind: "k1", dbr: true }], b("old"));
  await up(["a", { kind: "k2", dbr: true }], b("new"));
  expect((await states()).get("b")?.inputs["note"]).toBe("new");
});

test("a deletion that an earlier run left is a change of its own", async () => {
  await up(["a", {}]);
  const [stack, own] = [await sandbox.stack(), (await states()).get("a")];
  const { resources, ...rest } = await stack.read();
  if (own) await stack.write({ ...rest, resources: [...resources, { ...own, id: "old", delete: true }] });
  const planned = await sandbox.run({ preview: true });
  expect([planned.changes["delete-replaced"], hasChanges(planned)]).toEqual([1, true]);
  expect(calls(await up(["a", {}]), "delete")).toEqual([["delete", "old", expect.anything()]]);
});

always.each([true, false])(
  "what is deleted with a replaced resource is replaced without a deletion (first: %s)",
  async (dbr) => {
    const rows = (kind: string): Row[] => [
      ["a", { kind, dbr }],
      ["b", {}, { deletedWith: "a" }],
    ];
    await up(...rows("k1"));
    const ran = await up(...rows("k2"));
    expect(ran.changes).toMatchObject({ replace: 2 });
    expect(calls(ran, "delete")).toEqual([["delete", "a1", expect.anything()]]);
    expect((await states()).get("b")).toMatchObject({
      id: "b2",
      deletedWith: expect.stringMatching(/::a$/) as unknown,
    });
  },
);

test("a component keeps the inputs that the program gave it, and ignored ones change nothing", async () => {
  const group = (note: string): Row => ["group", { note }, { component: true, ignoreChanges: ["note"] }];
  await up(group("old"));
  const ran = await up(group("new"));
  expect(ran.changes).toEqual({ same: 2 });
  expect((await states()).get("group")?.inputs).toEqual({ note: "new" });
});

test("children of what a refresh found gone have no parent", async () => {
  await up(["group", {}, { component: true }], ["a", {}, { parent: "group" }], ["b", {}, { parent: "a" }]);
  sandbox.setCloud(Object.fromEntries(Object.entries(sandbox.cloud()).filter(([id]) => id !== "a1")));
  expect((await sandbox.run({ kind: "refresh" })).succeeded).toBe(true);
  const left = await states();
  expect([...left.keys()]).not.toContain("a");
  expect(left.get("b")?.parent).toBe("");
});

test("outputs that are equal to none are written all the same, and are no changes", async () => {
  await up();
  expect((await states()).get("spike-dev")?.outputs).toEqual({ none: null });
  const ran = await up();
  expect(hasChanges(ran)).toBe(false);
  expect(hasChanges({ ...ran, outputChanges: [{ path: "x", kind: "add" }] })).toBe(false);
});

test("a missing stack ends with the status that scripts know", async () => {
  const missing: unknown = await (await sandbox.workspace()).stack("nope").catch((error: unknown) => error);
  expect(missing).toBeInstanceOf(EngineError);
  const before = process.exitCode;
  const errors = { write: () => true } as unknown as NodeJS.WriteStream;
  reportFailure(missing, { input: process.stdin, output: process.stdout, errors, environment: {} });
  expect(process.exitCode).toBe(6);
  process.exitCode = before;
});
