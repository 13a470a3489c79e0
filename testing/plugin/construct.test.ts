import { afterAll, beforeAll, expect, test } from "@jest/globals";
import providerProto from "@pulumi/pulumi/proto/provider_pb.js";
import emptyProto from "google-protobuf/google/protobuf/empty_pb.js";
import structProto from "google-protobuf/google/protobuf/struct_pb.js";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { plugin } from "../harness/kinds.ts";
import { eventually } from "../harness/processes.ts";
import { Stage } from "../harness/stage.ts";
import { Monitor } from "./monitor.ts";

const { Struct } = structProto;
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

const endings: readonly [how: string, end: (brief: Monitor, host: Stage["host"]) => unknown][] = [
  ["its monitor goes away", (brief) => brief.close()],
  // Which would report the closed connection as one more failure.
  ["the engine cancels", (_, host) => host.ask((client, done) => client.cancel(new emptyProto.Empty(), done))],
];
test.each(endings)("is answered when %s in the middle", async (_, end) => {
  const brief = await new Monitor().listen();
  const other = await Stage.set({}, {}, plugin);
  try {
    brief.silent = "microapps:index:Team";
    const asked = requestOf(brief, "cut", { organizations }, other);
    const answer = other.host.ask<Of<"ConstructResponse">>((client, done) => client.construct(asked, done));
    await eventually("a team", () => brief.registered.some((one) => one.getType() === brief.silent));
    await end(brief, other.host);
    expect((await answer).getUrn()).toBe("");
    await other.host.ask((client, done) => client.getPluginInfo(new emptyProto.Empty(), done)); // which is there still
    // Where promises are rejected that nobody awaits.
    expect(other.host.printed).toBe("");
  } finally {
    brief.close();
    await other.clear();
  }
});
