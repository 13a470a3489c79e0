import { destroy, preview, refresh, up, type OptionProgram } from "./program.ts";

/** A program for each option of a resource that the embedded engine serves; engine/testing/plugins has those that it refuses. */
export const options: readonly OptionProgram[] = [
  {
    name: "dependsOn",
    turns: [
      preview(`const a = new Thing("a", {}); new Thing("b", {}, { dependsOn: [a] }); exports.a = a.computed;`),
      up(),
      preview(),
      up(`const b = new Thing("b", {}); new Thing("a", {}, { dependsOn: b });`),
      destroy(),
    ],
  },
  {
    name: "parent",
    turns: [
      up(`const g = new Group("g"); const a = new Thing("a", {}, { parent: g }); new Thing("b", {}, { parent: a });`),
      up(`const g = new Group("g"); new Thing("a", {}, { parent: g }); new Thing("b", {}, { parent: g });`),
      destroy(),
    ],
  },
  {
    name: "protect",
    turns: [
      up(`const g = new Group("g", { protect: true }); new Thing("a", {}, { parent: g }); new Thing("b", {});`),
      up(`new Thing("b", {}, { protect: true });`, { fails: true }),
      destroy({ fails: true }),
      up(`const g = new Group("g"); new Thing("a", { kind: "k" }, { parent: g, protect: true });`, { fails: true }),
      up(`const g = new Group("g"); new Thing("a", {}, { parent: g }); new Thing("b", {});`),
      destroy(),
    ],
  },
  {
    name: "retainOnDelete",
    turns: [
      up(`new Thing("a", {}, { retainOnDelete: true }); new Thing("b", { kind: "1" }, { retainOnDelete: true });`),
      up(`new Thing("b", { kind: "2" }, { retainOnDelete: true });`),
      destroy(),
    ],
  },
  {
    name: "deletedWith",
    turns: [
      up(
        `const a = new Thing("a", {}); new Thing("b", {}, { deletedWith: a }); new Thing("c", {}, { deletedWith: a });`,
      ),
      up(`const a = new Thing("a", {}); new Thing("b", {}, { deletedWith: a });`),
      destroy(),
    ],
  },
  ...["", ", dbr: true"].map((first) => ({
    name: first === "" ? "deletedWith-replaced" : "deletedWith-deleted-first",
    turns: ["1", "2"].flatMap((kind) => {
      const program = `const a = new Thing("a", { kind: "${kind}"${first} }); const b = new Thing("b", {}, { deletedWith: a });
        new Thing("c", { note: b.computed }, { deletedWith: b }); new Thing("d", {}, { dependsOn: a });`;
      return kind === "1" ? [up(program)] : [preview(program), up(), preview(), destroy()];
    }),
  })),
  {
    name: "deletedWith-gone",
    turns: [
      up(`const a = new Thing("a", { kind: "1", dbr: true }); new Thing("b", {}, { deletedWith: a });`),
      up(`new Thing("a", { kind: "2", dbr: true });`),
    ],
  },
  {
    name: "ignoreChanges",
    turns: [
      up(`new Thing("a", { kind: "1", note: "x", map: { x: 1, y: 1 } }, { ignoreChanges: ["kind", "map.x"] });`),
      preview(`new Thing("a", { kind: "2", note: "x", map: { x: 2, y: 1 } }, { ignoreChanges: ["kind", "map.x"] });`),
      up(`new Thing("a", { kind: "2", note: "y", map: { x: 2, y: 2 } }, { ignoreChanges: ["kind", "map.x"] });`),
      up(`new Thing("a", { kind: "2", note: "y", map: { x: 2, y: 2 } }, { ignoreChanges: ["*"] });`),
    ],
  },
  {
    name: "replaceOnChanges",
    turns: [
      up(`new Tiny("a", { note: "x", map: { x: 1 } }, { replaceOnChanges: ["map.x"] });`),
      up(`new Tiny("a", { note: "y", map: { x: 1 } }, { replaceOnChanges: ["map.x"] });`),
      preview(`new Tiny("a", { note: "y", map: { x: 2 } }, { replaceOnChanges: ["map.x"] });`),
      up(),
      up(`new Tiny("a", { note: "z", map: { x: 2 } }, { replaceOnChanges: ["*"] });`),
    ],
  },
  {
    name: "deleteBeforeReplace",
    turns: [
      up(`const a = new Thing("a", { kind: "1" }, { deleteBeforeReplace: true }); new Thing("b", { teamId: a.id });`),
      preview(
        `const a = new Thing("a", { kind: "2" }, { deleteBeforeReplace: true }); new Thing("b", { teamId: a.id });`,
      ),
      up(),
      up(`const a = new Thing("a", { kind: "3" }); new Thing("b", { teamId: a.id });`),
    ],
  },
  {
    name: "aliases",
    turns: [
      up(`const g = new Group("g"); new Thing("a", {}, { parent: g }); new Thing("b", {});`),
      preview(`const g = new Group("h", { aliases: [{ name: "g" }] }); new Thing("a", {}, { parent: g });
        new Thing("c", { name: "b" }, { aliases: [{ name: "b" }], parent: g });`),
      up(`const g = new Group("h", { aliases: [{ name: "g" }] }); new Thing("a", {}, { parent: g });
        new Thing("c", { name: "b" }, { aliases: [{ name: "b", parent: pulumi.rootStackResource }], parent: g });`),
      up(`const g = new Group("h"); new Thing("a", {}, { parent: g }); new Thing("c", { name: "b" }, { parent: g });`),
    ],
  },
  {
    // Below a resource with another URN each has another one, too, however deep it is.
    name: "aliases-below",
    turns: [
      up(`const g = new Group("g"); const a = new Thing("a", {}, { parent: g }); const b = new Thing("b", {}, { parent: a });
        new Thing("c", {}, { parent: b }); new Thing("d", {}, { parent: g });`),
      preview(`const g = new Group("h", { aliases: [{ name: "g", type: "t:i:Group" }] }, "t:i:Gang");
        const a = new Thing("a", {}, { parent: g }); const b = new Thing("b", {}, { parent: a });
        new Thing("c", {}, { parent: b }); new Thing("d", {}, { aliases: [{ parent: g }] });`),
      up(),
      preview(`const g = new Group("h", undefined, "t:i:Gang"); const a = new Thing("a2", { name: "a" }, { parent: g, aliases: [{ name: "a" }] });
        const b = new Thing("a2-b", { name: "b" }, { parent: a, aliases: [{ name: "b" }] }); new Thing("c", {}, { parent: b });
        new Thing("d", {}, { parent: a, aliases: [{ parent: undefined }] });`),
      up(),
      preview(),
      destroy(),
    ],
  },
  {
    name: "customTimeouts",
    turns: [
      up(`new Thing("a", {}, { customTimeouts: { create: "1m", update: "90s", delete: "1h" } });`),
      up(`new Thing("a", {}, { customTimeouts: { create: "2m" } });`),
    ],
  },
  {
    name: "additionalSecretOutputs",
    turns: [
      up(`const a = new Thing("a", { note: pulumi.secret("s") }, { additionalSecretOutputs: ["computed"] });
        exports.computed = a.computed; exports.plain = "p"; exports.own = pulumi.secret({ x: 1 });`),
      preview(),
      up(`const a = new Thing("a", { note: "s" }); exports.computed = a.computed;`),
    ],
  },
  {
    name: "id",
    turns: [
      up(`new Thing("a", {}); new Tiny("t", {});`),
      up(
        `new Thing("a", {}); new Tiny("t", {}); const s = new Tiny("seen", {}, { id: "t-1" }); exports.serial = s.serial;`,
      ),
      up(`new Thing("a", {}); new Tiny("t", {});`),
      up(`new Tiny("none", {}, { id: "none-1" });`, { fails: true }),
    ],
  },
  {
    name: "provider",
    turns: [
      up(`const p = new Provider("tiny", "p", { account: "x" }); new Tiny("a", {}, { provider: p });`),
      preview(`const p = new Provider("tiny", "p", { account: "x", color: "c" }); new Tiny("a", {}, { provider: p });`),
      up(),
      up(`const p = new Provider("tiny", "p", { account: "y" }); new Tiny("a", {}, { provider: p });`),
      destroy(),
    ],
  },
  {
    name: "providers",
    turns: [
      up(`const p = new Provider("tiny", "p", { account: "x" }); const g = new Group("g", { providers: { tiny: p } });
        new Tiny("a", {}, { parent: g }); new Thing("b", {}, { parent: g });`),
      up(`const p = new Provider("tiny", "p", { account: "x" }); const g = new Group("g");
        new Tiny("a", {}, { parent: g });`),
    ],
  },
  {
    name: "version",
    turns: [
      up(`new Tiny("a", {}, { version: "1.2.3" }); new Tiny("b", {});`),
      preview(`new Tiny("a", {}); new Tiny("b", {});`),
    ],
  },
  {
    name: "urn",
    turns: [
      up(`new Thing("a", {}); const urn = "urn:pulumi:dev::both::pulumi-nodejs:dynamic/t:Thing::a";
        exports.urn = pulumi.output(urn);`),
    ],
  },
  {
    name: "transformations",
    turns: [
      up(`pulumi.runtime.registerStackTransformation(({ props, opts }) => ({ props: { ...props, note: "t" }, opts }));
        new Thing("a", {}, { transformations: [({ props, opts }) => ({ props: { ...props, size: 3 }, opts })] });`),
    ],
  },
  {
    name: "outputs",
    turns: [
      preview(
        `const a = new Thing("a", {}); exports.computed = a.computed; exports.list = [1, { two: pulumi.secret("2") }];`,
      ),
      up(),
      up(`new Thing("a", {}); exports.list = [1];`),
      refresh(),
    ],
  },
];
