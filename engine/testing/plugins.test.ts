import { afterEach, describe, expect } from "@jest/globals";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { sampleStories } from "../../testing/harness/drawn.ts";
import type { EngineEvent } from "../events.ts";
import { setConfig } from "../workspace/configEdits.ts";
import { type Ran, Sandbox } from "./sandbox.ts";

const test = sampleStories();

const folder = path.resolve(import.meta.dirname, "../../../engine/testdata/plugin");
const prelude = `
  const pulumi = require("@pulumi/pulumi");
  class Thing extends pulumi.CustomResource {
    constructor(name, inputs, options, type = "tiny:index:Thing") { super(type, name, { serial: undefined, ...inputs }, options); }
  }
  class Provider extends pulumi.ProviderResource {}
`;
const projectFile = (plugins: string): string => `name: spike\nruntime: nodejs\nmain: index.cjs\n${plugins}\n`;
const tiny = projectFile(`plugins: {providers: [{name: tiny, path: ${folder}}]}`);

let sandbox: Sandbox;
afterEach(() => sandbox.remove());

async function set(program: string, project = tiny): Promise<void> {
  sandbox = new Sandbox({ "Pulumi.yaml": project });
  write(program);
  await sandbox.init();
}
const write = (program: string): void =>
  writeFileSync(path.join(sandbox.project, "index.cjs"), `${prelude}${program}\n`);

const errors = (events: EngineEvent[]): string[] =>
  events.flatMap((event) => (event.type === "log" && event.severity === "error" ? [event.message] : []));
/** Steps of a run, as `create a`; of refreshes, their findings. */
const steps = ({ events }: Ran): string[] =>
  events.flatMap((event) =>
    event.type === "stepDone" && !event.internal && event.op !== "same"
      ? [`${event.op} ${event.name}${event.refreshed ? `: ${event.refreshed}` : ""}`]
      : [],
  );
/** Calls without the constant parts: package, provider, method, then arguments. */
const calls = ({ calls: made }: Ran, ...methods: string[]): unknown[][] =>
  made.filter(([, , method]) => methods.includes(String(method)));

interface Raw {
  version: number;
  features?: string[];
  checkpoint: { latest: { resources?: ({ urn: string } & Record<string, unknown>)[] } };
}
const raw = async (): Promise<Raw> => JSON.parse(readFileSync((await sandbox.stack()).stateFile, "utf8")) as Raw;
async function state(name: string): Promise<Record<string, unknown> | undefined> {
  const { resources = [] } = (await raw()).checkpoint.latest;
  return resources.find(({ urn }) => urn.endsWith(`::${name}`));
}

describe("a plugin", () => {
  test("that asks for it is read before each preview and update, and what is gone is made again", async () => {
    await set(`new Thing("a", { name: "a", watch: true }); new Thing("b", { name: "b" });`);
    await sandbox.run();
    expect(await raw()).toMatchObject({ version: 4, features: ["refreshBeforeUpdate"] });
    expect([await state("a"), await state("b")]).toMatchObject([{ refreshBeforeUpdate: true }, {}]);
    expect(await state("b")).not.toHaveProperty("refreshBeforeUpdate");

    sandbox.setCloud({ "a-1": { name: "a", watch: true, size: 7 }, "b-1": { name: "b", size: 7 } });
    const drift = await sandbox.run({ preview: true });
    expect(calls(drift, "read").map(([, , , name]) => name)).toEqual(["a"]);
    expect(steps(drift)).toEqual(["refresh a: update", "update a"]);
    expect(drift.changes).toEqual({ update: 1, same: 2 });
    // The process that reads serves the program too, but for a configuration that is another.
    expect(calls(drift, "handshake")).toHaveLength(1);
    await setConfig(await sandbox.stack(), "tiny:color", "blue");
    const updated = await sandbox.run();
    expect(steps(updated)).toEqual(["refresh a: update", "update a"]);
    expect(calls(updated, "configure").map(([, , , config]) => config)).toEqual([{}, { color: "blue" }]);

    sandbox.setCloud({});
    expect(steps(await sandbox.run())).toEqual(["refresh a: delete", "create a"]);
    expect(await state("a")).toMatchObject({ id: "a-2" });

    write(`new Thing("a", { name: "a" }); new Thing("b", { name: "b" });`);
    await sandbox.run();
    expect((await raw()).version).toBe(3);
  });

  test("may be one of several, in several configurations; a provider that is another replaces what it has", async () => {
    const program = (account: string): string => `
      const first = new Provider("tiny", "first", { account: "${account}" });
      const origin = new Thing("origin", { name: "origin" }, undefined, "other:index:Thing");
      const second = new Provider("tiny", "second", { account: origin.id });
      new Thing("a", { name: "a" }, { provider: first });
      new Thing("b", { name: "b" }, { provider: second });`;
    await set(program("x"), projectFile(`packages: {tiny: ${folder}, other: {source: ${folder}}}`));
    const preview = await sandbox.run({ preview: true });
    expect(errors(preview.events)).toEqual([]);
    // The configuration of the second provider is not known yet, so it is not asked about its resources.
    expect(calls(preview, "check", "create").map(([name, provider, method]) => [name, provider, method])).toEqual(
      expect.not.arrayContaining([["tiny", "second", "check"]]),
    );
    const made = await sandbox.run();
    expect(calls(made, "create").map(([name, provider, , thing]) => [name, provider, thing])).toEqual(
      expect.arrayContaining([
        ["tiny", "first", "a"],
        ["tiny", "second", "b"],
        ["other", "default", "origin"],
      ]),
    );
    write(program("y"));
    const replaced = await sandbox.run();
    expect(replaced.changes).toEqual({ replace: 2, same: 4 });
    expect(await state("a")).toMatchObject({ id: "a-2" });
    expect(sandbox.cloud()).toEqual({
      "a-2": expect.anything(),
      "b-1": expect.anything(),
      "origin-1": expect.anything(),
    });
  });

  test("looks at what exists, and lets go of what is ours and made the other's", async () => {
    const own = `new Thing("own", { name: "own" });`;
    await set(own);
    await sandbox.run();
    write(`${own} new Thing("seen", {}, { id: "own-1" });`);
    const seen = await sandbox.run();
    expect(steps(seen)).toEqual(["read seen"]);
    expect(seen.changes).toEqual({ same: 2 });
    expect(await state("seen")).toMatchObject({ external: true, id: "own-1", outputs: { name: "own", serial: 1 } });
    write(`${own} new Thing("seen", { name: "mine" });`);
    expect(steps(await sandbox.run())).toEqual(["create-replacement seen", "replace seen", "discard-replaced seen"]);
    write(`new Thing("own", {}, { id: "own-1" }); new Thing("seen", {}, { id: "own-1" });`);
    const made = await sandbox.run();
    expect(steps(made).toSorted()).toEqual([
      "delete-replaced seen",
      "read own",
      "read-replacement seen",
      "replace seen",
    ]);
    expect(Object.keys(sandbox.cloud())).toEqual(["own-1"]);
    write(`new Thing("gone", {}, { id: "nowhere" });`);
    expect(errors((await sandbox.run({ preview: true })).events)).toEqual([
      "Preview failed: resource 'nowhere' does not exist",
    ]);
    expect(steps(await sandbox.run({ kind: "destroy" }))).toEqual(
      expect.arrayContaining(["read-discard own", "read-discard seen"]),
    );
    expect(Object.keys(sandbox.cloud())).toEqual(["own-1"]);
  });

  test("answers functions, and a program can handle that one fails", async () => {
    await set(`
      const made = new Thing("a", { name: "a" });
      const provider = new Provider("tiny", "p", { account: "x" });
      const ask = (name, options) => pulumi.runtime.invoke("tiny:index:lookup", { name }, options);
      exports.found = ask("a");
      exports.secret = pulumi.runtime.invokeOutput("tiny:index:lookup", { name: pulumi.secret("a") }, { provider });
      exports.failed = ask("explode").catch((error) => error.message);
      exports.refused = ask("bad").catch((error) => error.message);
      exports.later = made.id.apply((id) => ask(id));
      const group = new pulumi.ComponentResource("tests:Group", "group");
      new Thing("b", { name: "b" }, { parent: group });
      exports.gated = pulumi.runtime.invokeOutput("tiny:index:lookup", { name: "b" }, { dependsOn: group });`);
    const preview = await sandbox.run({ preview: true });
    expect(errors(preview.events)).toEqual([]);
    expect(preview.outputs).toMatchObject({ later: "[unknown]", gated: "[unknown]" });
    const { outputs, calls: made, events } = await sandbox.run();
    expect(errors(events)).toEqual([]);
    expect(outputs).toEqual({
      found: { ids: expect.any(Array) as unknown, asked: { name: "a" } },
      secret: "[secret]",
      failed: "invocation of tiny:index:lookup returned an error: the platform says no",
      refused: "Invoke of 'tiny:index:lookup' failed: name must not be bad (name)",
      later: { ids: [], asked: { name: "a-1" } },
      gated: { ids: ["b-1"], asked: { name: "b" } },
    });
    const asked = made.filter(([, , method]) => method === "invoke").map(([, provider]) => provider);
    expect(new Set(asked)).toEqual(new Set(["default", "p"]));
  });

  test("in another version has a default provider of its own, which is kept to", async () => {
    await set(
      `new Thing("a", { name: "a" }, { version: "1.2.0" });
       const provider = new Provider("tiny", "p", {}, { version: "2.0.0-rc.1" });
       new Thing("w", { name: "w", watch: true }, { provider });`,
    );
    const made = await sandbox.run();
    expect(await state("default_1_2_0")).toMatchObject({ inputs: { version: "1.2.0", __internal: {} } });
    expect(JSON.stringify(calls(made, "checkConfig", "configure"))).not.toContain("__internal");
    write(`new Thing("a", { name: "a" }, { version: "1.2.0" }); new Thing("b", { name: "b" });`);
    await sandbox.run();
    expect(await state("b")).toMatchObject({ provider: expect.stringContaining("default_2_0_0_rc_1") as unknown });
  });
});

describe("what cannot be served is one sentence with the place:", () => {
  const refusals = async (program: string, project = tiny): Promise<string[]> => {
    try {
      await set(program, project);
      return errors((await sandbox.run({ preview: true })).events);
    } catch (error) {
      return [String(error)];
    }
  };
  const a = `new Thing("a", { name: "a" });`;

  test("a folder that is not there", async () => {
    expect(await refusals(a, projectFile("packages: {tiny: ../nowhere}"))).toEqual([
      expect.stringMatching(/the plugin 'tiny': there is no folder \/.*\/nowhere$/),
    ]);
  });

  test("a folder without the executable", async () => {
    expect(await refusals(a, projectFile("packages: {tiny: .}"))).toEqual([
      expect.stringMatching(/there is no executable \/.*\/project\/pulumi-resource-tiny; the Pulumi CLI/),
    ]);
  });

  test.each([
    ["echo hello", /pulumi-resource-tiny did not print its port first, but: hello/],
    ["exit 3", /pulumi-resource-tiny exited with code 3$/],
    // It is ended while it starts, since something else is refused: that is no failure of its own.
    ["exec sleep 60", /^the program uses resource hooks/, 'new pulumi.ResourceHook("h", () => undefined);'],
  ])("an executable that does %s", async (script, message, more = "") => {
    const project = projectFile("packages: {tiny: .}");
    sandbox = new Sandbox({ "Pulumi.yaml": project, "pulumi-resource-tiny": `#!/bin/sh\n${script}\n` });
    chmodSync(path.join(sandbox.project, "pulumi-resource-tiny"), 0o755);
    write(a + more);
    await sandbox.init();
    const { events } = await sandbox.run();
    expect(errors(events)).toEqual([expect.stringMatching(message)]);
  });

  test("a package that Pulumi.yaml does not name", async () => {
    const [message] = await refusals(`new Thing("a", {}, undefined, "aws:s3:Bucket");`);
    expect(message).toContain("resource 'a' (aws:s3:Bucket): no plugin for 'aws' is named in Pulumi.yaml");
  });

  test("a package that would have to be downloaded, or takes parameters", async () => {
    expect(await refusals(a, projectFile("packages: {aws: aws@6.0.0}"))).toEqual([
      expect.stringContaining("the package 'aws' that is not a folder is not served by the embedded engine"),
    ]);
    sandbox.remove();
    expect(await refusals(a, projectFile(`packages: {tiny: {source: ${folder}, parameters: [x]}}`))).toEqual([
      expect.stringContaining("the package 'tiny' with 'parameters'"),
    ]);
  });

  test("a reference to another stack", async () => {
    const [message] = await refusals(`new pulumi.StackReference("other");`);
    expect(message).toContain("(pulumi:pulumi:StackReference): the resources of Pulumi itself are not served");
  });

  test.each([
    [
      `new Thing("a", { name: "a" }, { transforms: [() => undefined] });`,
      "resource 'a' (tiny:index:Thing) uses 'transforms'",
    ],
    ["pulumi.runtime.registerResourceTransform(() => undefined);", "the program uses stack transforms"],
    [
      `const hook = new pulumi.ResourceHook("h", () => undefined); new Thing("a", { name: "a" }, { hooks: { afterCreate: [hook] } });`,
      "the program uses resource hooks",
    ],
    [
      `new Thing("a", { name: "a" }, { stateMigrations: [() => undefined] });`,
      "resource 'a' (tiny:index:Thing) uses 'state migrations'",
    ],
    [
      `new Thing("a", { name: "a" }, { replaceWith: [new pulumi.ComponentResource("t:i:Group", "g")] });`,
      "resource 'a' (tiny:index:Thing) uses 'replaceWith'",
    ],
    [
      `new Thing("a", { name: "a" }, { replacementTrigger: "1" });`,
      "resource 'a' (tiny:index:Thing) uses 'replacementTrigger'",
    ],
    [`new Thing("a", { name: "a" }, { import: "a-1" });`, "resource 'a' (tiny:index:Thing) uses 'import'"],
    [
      `new Thing("a", { name: "a" }, { pluginDownloadURL: "https://example.com" });`,
      "resource 'a' (tiny:index:Thing) uses 'pluginDownloadURL'",
    ],
  ])("what the embedded engine does not do: %s", async (program, what) => {
    const instead = "which the embedded engine does not do: run this program with the Pulumi CLI";
    expect(await refusals(program)).toEqual([`${what}, ${instead}`]);
  });

  test("a state that was made with a plugin that is no longer named", async () => {
    await set(a);
    await sandbox.run();
    writeFileSync(path.join(sandbox.project, "Pulumi.yaml"), projectFile(""));
    await expect(sandbox.run()).rejects.toThrow("no plugin for 'tiny' is named in Pulumi.yaml");
  });
});
