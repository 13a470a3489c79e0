import { afterAll, beforeAll, expect, test } from "@jest/globals";
import providerProto from "@pulumi/pulumi/proto/provider_pb.js";
import emptyProto from "google-protobuf/google/protobuf/empty_pb.js";
import structProto from "google-protobuf/google/protobuf/struct_pb.js";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { construct } from "../../provider/pulumi/plugin/environment.ts";
import { testInLong } from "../harness/drawn.ts";
import { plugin } from "../harness/kinds.ts";
import { eventually } from "../harness/processes.ts";
import { Stage } from "../harness/stage.ts";
import { Monitor } from "./monitor.ts";

const { Struct } = structProto;
const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
type Of<Name extends keyof typeof providerProto> = InstanceType<
  Extract<(typeof providerProto)[Name], new () => unknown>
>;

const organizations = {
  acme: { name: { config: "name" }, teams: { crew: { name: "Crew", members: { "ada@example.com": "admin" } } } },
};

/** A request for what a file declares, which stands in the folder of the project. */
const requestOf = (monitor: Monitor, name: string, declaration: object = { organizations }, { host } = stage) => {
  const file = `${name}.yaml`;
  writeFileSync(join(host.folder, file), JSON.stringify(declaration));
  const request = new providerProto.ConstructRequest()
    .setProject("tests")
    .setStack("dev")
    .setMonitorendpoint(monitor.address)
    .setType("microapps:index:Environment")
    .setName(name)
    .setInputs(Struct.fromJavaScript({ file }));
  request.getConfigMap().set("tests:name", `name of ${name}`);
  return request;
};
const own = `urn:pulumi:dev::tests::pulumi:providers:microapps::default::${unknown}`;

let monitor: Monitor;
let stage: Stage;
beforeAll(async () => {
  monitor = await new Monitor().listen();
  stage = await Stage.set({}, {}, plugin);
});
afterAll(async () => {
  monitor.close();
  await stage.clear();
});
const ask = (request: Of<"ConstructRequest">) =>
  stage.host.ask<Of<"ConstructResponse">>((client, done) => client.construct(request, done));

test("several at once have each its own configuration, and what is below it", async () => {
  const names = Array.from({ length: 12 }, (_, at) => `e${at}`);
  const answers = await Promise.all(names.map((name) => ask(requestOf(monitor, name))));
  for (const [at, name] of names.entries()) {
    expect(monitor.inputs(`${name}/acme`)).toEqual({ name: `name of ${name}` });
    expect(answers[at]?.getUrn()).toBe(`urn:pulumi:dev::tests::microapps:index:Environment::${name}`);
    expect(answers[at]?.getState()?.toJavaScript()).toMatchObject({
      organizations: { acme: `id of ${name}/acme` },
      teams: { "acme/crew": `id of ${name}/acme/crew` },
    });
  }
  const children = monitor.registered.filter((one) => one.getCustom());
  expect(children).toHaveLength(names.length * 3);
});

test("outlives a monitor that goes away in the middle, and answers", async () => {
  const brief = await new Monitor().listen();
  brief.silent = "microapps:index:Team";
  const answer = ask(requestOf(brief, "cut"));
  await eventually("a team", () => brief.registered.some((one) => one.getType() === brief.silent));
  brief.close();
  expect((await answer).getUrn()).toBe("");
  await ask(requestOf(monitor, "afterwards"));
  expect(monitor.inputs("afterwards/acme")).toBeDefined();
  // Where promises are rejected that nobody awaits.
  expect(stage.host.printed).toBe("");
});

test("is answered when the engine cancels, which would report the closed connection as one more failure", async () => {
  const brief = await new Monitor().listen();
  const other = await Stage.set({}, {}, plugin);
  try {
    brief.silent = "microapps:index:Team";
    const asked = requestOf(brief, "cancelled", { organizations }, other);
    const answer = other.host.ask<Of<"ConstructResponse">>((client, done) => client.construct(asked, done));
    await eventually("a team", () => brief.registered.some((one) => one.getType() === brief.silent));
    await other.host.ask((client, done) => client.cancel(new emptyProto.Empty(), done));
    expect((await answer).getUrn()).toBe("");
  } finally {
    brief.close();
    await other.clear();
  }
});

testInLong("keeps nothing of a construct: after 40 more of them memory is what it was", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const one = (at: number): object => ({
    organizations: { acme: { name: "Acme", description: `${at} ${"x".repeat(500_000)}` } },
  });
  const used = async (count: number): Promise<number> => {
    for (let at = 0; at < count; at++) {
      await construct(requestOf(monitor, `m${at}`, one(at)), own);
      monitor.registered.length = 0;
    }
    for (let at = 0; at < 3; at++) {
      await new Promise((resolve) => void setImmediate(resolve));
      collect();
    }
    return process.memoryUsage().heapUsed;
  };
  process.chdir(stage.host.folder);
  const before = await used(10);
  // Kept, the descriptions alone would be 20 MB.
  expect((await used(40)) - before).toBeLessThan(10_000_000);
});
