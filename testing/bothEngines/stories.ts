import { destroy, preview, refresh, up, withFlags, type OptionProgram } from "./program.ts";

const one = `new Thing("a", {});`;
const two = `new Thing("a", {}); new Thing("b", {});`;
/** A program for each way in which a run begins, ends or fails. */
export const stories: readonly OptionProgram[] = [
  {
    name: "expect-no-changes",
    turns: [
      preview(one, { command: "preview --expect-no-changes", fails: true }),
      up(undefined, withFlags("--expect-no-changes", { fails: true })),
      preview(undefined, { command: "preview --expect-no-changes" }),
      refresh({ command: "refresh --yes --skip-preview --expect-no-changes" }),
    ],
  },
  {
    name: "refresh",
    turns: [
      up(two),
      refresh({ byHand: (items) => void (items["a1"] = { ...items["a1"], size: 9 }) }),
      preview(),
      up(),
      refresh({ byHand: (items) => void delete items["b1"] }),
      up(undefined, withFlags("--refresh", { byHand: (items) => void delete items["a1"] })),
      preview(undefined, { command: "preview --refresh" }),
    ],
  },
  {
    name: "refresh-always",
    turns: [
      up(two),
      up(undefined, {
        files: { "Pulumi.yaml": "name: both\nruntime: nodejs\nmain: index.cjs\noptions: { refresh: always }\n" },
        byHand: (items) => void (items["a1"] = { ...items["a1"], size: 9 }),
      }),
      preview(),
    ],
  },
  {
    name: "read-before-update",
    turns: [
      up(`new Tiny("a", { watch: true }); new Tiny("b", {});`),
      preview(undefined, { byHand: (items) => void (items["a-1"] = { ...items["a-1"], size: 9 }) }),
      up(),
      up(undefined, { byHand: (items) => void delete items["a-1"] }),
      destroy(),
    ],
  },
  {
    name: "preview-only",
    turns: [
      up(two),
      refresh({ command: "refresh --preview-only", byHand: (items) => void delete items["b1"] }),
      destroy({ command: "destroy --preview-only" }),
    ],
  },
  {
    name: "failed-create",
    turns: [
      up(`const a = new Thing("a", { failCreate: true }); new Thing("b", {}, { dependsOn: a });`, { fails: true }),
      up(`const a = new Thing("a", {}); new Thing("b", {}, { dependsOn: a });`),
    ],
  },
  {
    name: "partly-created",
    turns: [
      up(`new Thing("a", { failInit: true });`, { fails: true }),
      preview(`new Thing("a", {});`),
      up(),
      preview(),
    ],
  },
  {
    name: "failed-update",
    turns: [
      up(one),
      up(`new Thing("a", { failUpdate: true });`, { fails: true }),
      up(`new Thing("a", { note: "n" });`),
    ],
  },
  {
    name: "failed-delete",
    turns: [
      up(`const a = new Thing("a", {}); new Thing("b", { failDelete: true }, { dependsOn: a });`),
      up(``, { fails: true }),
      destroy({ environment: { ALLOW_DELETE: "1" } }),
    ],
  },
  {
    name: "failed-replacement",
    turns: [
      up(`new Thing("a", { kind: "1" });`),
      up(`new Thing("a", { kind: "2", failCreate: true });`, { fails: true }),
      up(`new Thing("a", { kind: "2" });`),
    ],
  },
  {
    name: "failed-replacement-deleted-first",
    turns: [
      up(`new Thing("a", { kind: "1", dbr: true });`),
      up(`new Thing("a", { kind: "2", dbr: true, failCreate: true });`, { fails: true }),
      preview(`new Thing("a", { kind: "2", dbr: true });`),
      up(),
    ],
  },
  {
    name: "failed-check",
    turns: [preview(`new Thing("bad", {});`, { fails: true }), up(undefined, { fails: true })],
  },
  {
    name: "program-throws",
    turns: [
      up(one),
      up(`throw new Error("no");`, { fails: true }),
      up(`process.exit(0);`, { fails: true }),
      preview(one),
    ],
  },
  { name: "declared-twice", turns: [up(one), up(`new Thing("a", {}); new Thing("a", {});`, { fails: true })] },
  {
    name: "type-changes",
    turns: [up(`new Thing("a", {});`), up(`new Tiny("a", {});`), up(`new Group("a");`)],
  },
  {
    name: "functions",
    turns: [
      preview(`const a = new Tiny("a", {}); const g = new Group("g"); new Tiny("b", {}, { parent: g });
        const ask = (name, options) => pulumi.runtime.invokeOutput("tiny:index:lookup", { name }, options);
        exports.now = ask("x"); exports.later = ask(a.id); exports.waits = ask("a", { dependsOn: [a] });
        exports.gated = ask("b", { dependsOn: g });`),
      up(),
      preview(),
      preview(`const a = new Tiny("a", { kind: "2" }); const c = new Tiny("c", {});
        exports.replaced = pulumi.runtime.invokeOutput("tiny:index:lookup", { name: "a" }, { dependsOn: [a] });
        exports.created = pulumi.runtime.invokeOutput("tiny:index:lookup", { name: "c" }, { dependsOn: [c] });`),
      up(),
    ],
  },
  {
    name: "functions-fail",
    turns: [
      up(`exports.failed = pulumi.runtime.invoke("tiny:index:lookup", { name: "explode" }).catch(() => "caught");`),
      up(`exports.failed = pulumi.runtime.invoke("tiny:index:lookup", { name: "bad" });`, { fails: true }),
    ],
  },
  {
    name: "configuration",
    turns: [
      { command: "config set tiny:color blue" },
      { command: "config set --secret token s3cr3t" },
      up(`const config = new pulumi.Config(); exports.token = config.requireSecret("token");
        new Tiny("a", { note: config.requireSecret("token") }); new Thing("b", {});`),
      { command: "config set tiny:color green" },
      preview(),
      up(),
      { command: "config rm token" },
      up(undefined, { fails: true }),
    ],
  },
];
