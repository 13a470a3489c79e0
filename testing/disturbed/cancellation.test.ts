import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import pluginProto from "@pulumi/pulumi/proto/plugin_pb.js";
import providerProto from "@pulumi/pulumi/proto/provider_pb.js";
import emptyProto from "google-protobuf/google/protobuf/empty_pb.js";
import structProto from "google-protobuf/google/protobuf/struct_pb.js";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import { join } from "node:path";
import { pages } from "../../platform/client/index.ts";
import { sampleStories } from "../harness/drawn.ts";
import { plugin } from "../harness/kinds.ts";
import { eventually } from "../harness/processes.ts";
import { InitFailed } from "../harness/providerHost.ts";
import { Stage } from "../harness/stage.ts";

const tables = { continents: { name: "Continents", fields: { Code: { type: "text", sort: 1 }, Name: "text" } } };

// Pulumi's host of dynamic resources drops it.
describe("with the plugin a cancellation", () => {
  const test = sampleStories();
  let stage: Stage;
  beforeEach(async () => void (stage = await Stage.set({ tables }, {}, plugin)));
  afterEach(() => stage.clear());
  const cancel = () => stage.host.ask((client, done) => client.cancel(new emptyProto.Empty(), done));

  test("ends what is under way", async () => {
    const { id, outputs } = await stage.create("Organization", { name: "Acme" });
    stage.emulator.setFaults({ faults: [{ endpoint: "readorganization", kind: "timeout" }] });
    const slow = expect(stage.host.read("Organization", id, outputs)).rejects.toThrow("Run it again to go on");
    await eventually("a call", () => stage.emulator.calls({ endpoint: "readorganization" }).length > 0);
    await cancel();
    await slow;
  });

  test("lets a creation that is under way end whole", async () => {
    const { emulator, host } = stage;
    emulator.setFaults({ faults: [{ endpoint: "insertorganization", kind: "slow", milliseconds: 500 }] });
    const creating = stage.create("Organization", { name: "Acme" });
    await eventually("a call", () => emulator.faults().some(({ hit }) => hit > 0));
    await cancel();
    const { id, outputs } = await creating;
    expect(outputs).toMatchObject({ name: "Acme" });
    await host.restart();
    expect((await host.read("Organization", id, outputs)).id).toBe(id);
  });

  test("lets additions that are under way end, and saves who was added", async () => {
    const { emulator, host } = stage;
    const organizationID = await stage.organization();
    const [one, two] = [await stage.team(organizationID, "One"), await stage.team(organizationID, "Two")];
    emulator.setFaults({ faults: [{ endpoint: "insertteammembers", kind: "slow", milliseconds: 500 }] });
    const people = ["ada", "bob"].map((name) => ({ teamID: one, email: `${name}@example.com`, role: "admin" }));
    const adding = Promise.all(people.map((inputs) => stage.create("TeamMember", inputs)));
    const roster = stage.create("TeamRoster", { teamID: two, members: { "cyd@example.com": "admin" } });
    const failing = roster.catch((error: unknown) => error);
    await eventually("both calls", () => (emulator.faults()[0]?.hit ?? 0) >= 2);
    await cancel();
    const added = await adding;
    const failed = await failing;
    if (!(failed instanceof InitFailed)) throw failed;
    expect(failed.properties).toMatchObject({ members: { "cyd@example.com": "member" } });
    await host.restart();
    for (const { id, outputs } of added) {
      expect((await host.read("TeamMember", id, outputs)).outputs).toMatchObject({ role: "admin" });
    }
  });

  test("during a batch lets it end, sends no other one and keeps what is done; the next run goes on after a refresh too", async () => {
    const { host } = stage;
    const lines = Array.from({ length: 70_000 }, (_, index) => `C${index},Name`);
    await writeFile(join(host.folder, "many.csv"), ["Code,Name", ...lines].join("\n"));
    const seed = { table: "continents", key: "Code", source: "many.csv" };
    stage.emulator.setFaults({ faults: [{ endpoint: "insertmicroapprows", kind: "slow", milliseconds: 1_000 }] });
    const failing = stage.create("SeedRows", seed).catch((error: unknown) => error);
    await eventually("the second batch", () => (stage.emulator.faults()[0]?.hit ?? 0) >= 2);
    await cancel();
    const failed = await failing;
    if (!(failed instanceof InitFailed)) throw failed;
    let there = 0;
    for await (const rows of pages(stage.client, { microAppID: "continents" })) there += rows.length;
    expect(failed.properties).toMatchObject({ rowCount: there });
    expect(failed.message).toContain(
      `${there} rows of table continents are as declared, but:\nthe run was cancelled; the next one goes on`,
    );
    expect(there).toBeGreaterThanOrEqual(10_000);
    expect(there).toBeLessThan(70_000);
    const batches = stage.emulator
      .calls({ mutating: true })
      .filter(({ endpoint }) => endpoint === "insertmicroapprows");
    expect(there).toBe(1 + batches.length * 10_000); // one row is tried first

    await host.restart();
    stage.emulator.setFaults({ faults: [] });
    const { outputs } = await host.read("SeedRows", failed.id, failed.properties);
    const { inputs } = await host.check("SeedRows", seed, outputs);
    expect(await host.diff("SeedRows", failed.id, outputs, inputs)).toMatchObject({ changes: true });
    const done = await host.update("SeedRows", failed.id, outputs, inputs);
    expect(done).toMatchObject({ rowCount: 70_000 });
    expect(done).not.toHaveProperty("unfinished");
  });
});

describe("a plugin that somebody started by hand, to which engines attach", () => {
  let stage: Stage;
  beforeEach(async () => void (stage = await Stage.set({}, {}, plugin)));
  afterEach(() => stage.clear());

  /** Attaches an engine; what is returned ends it. */
  async function attach(): Promise<() => void> {
    const { host, emulator } = stage;
    const engine = createServer();
    const sockets: Socket[] = [];
    engine.on("connection", (socket: Socket) => sockets.push(socket));
    engine.listen(0, "127.0.0.1");
    await once(engine, "listening");
    const { port } = engine.address() as AddressInfo; // a server at a port has one
    const attached = new pluginProto.PluginAttach().setAddress(`127.0.0.1:${port}`);
    await host.ask((client, done) => client.attach(attached, done));
    const settings = { endpoint: emulator.url, email: "admin@example.com", password: "correct-horse" };
    const request = new providerProto.ConfigureRequest().setArgs(structProto.Struct.fromJavaScript(settings));
    await host.ask((client, done) => client.configure(request, done));
    await eventually("a connection", () => sockets.length > 0);
    return () => {
      engine.close();
      for (const socket of sockets) socket.destroy();
    };
  }

  test("ends what is under way when its engine is gone, and serves the next one", async () => {
    const end = await attach();
    const { id, outputs } = await stage.create("Organization", { name: "Acme" });
    stage.emulator.setFaults({ faults: [{ endpoint: "readorganization", kind: "timeout" }] });
    const slow = expect(stage.host.read("Organization", id, outputs)).rejects.toThrow("Run it again to go on");
    await eventually("a call", () => stage.emulator.calls({ endpoint: "readorganization" }).length > 0);
    end();
    await slow;
    stage.emulator.setFaults({ faults: [] });
    const endNext = await attach();
    expect((await stage.host.read("Organization", id, outputs)).outputs).toMatchObject({ name: "Acme" });
    endNext();
  });
});
