import grpc from "@grpc/grpc-js";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import providerProto from "@pulumi/pulumi/proto/provider_pb.js";
import fc from "fast-check";
import { drawnFrom } from "../harness/drawn.ts";
import { dynamic, plugin } from "../harness/kinds.ts";
import { eventually } from "../harness/processes.ts";
import type { TestedKind } from "../harness/providerHost.ts";
import { Stage } from "../harness/stage.ts";
import { found } from "../security/searching.ts";
import { Collector, type Received } from "./collector.ts";

const trace = "0af7651916cd43dd8448eb211c80319c";
const [run, step] = ["b7ad6b7169203331", "00f067aa0ba902b7"];
const header = "Bearer header-of-the-collector";

const with_ = (providerKind: TestedKind, environment: Record<string, string>): TestedKind => ({
  ...providerKind,
  environment: { ...providerKind.environment, ...environment },
});

describe.each(drawnFrom([dynamic, plugin], "spans"))("with the $name provider:", (providerKind) => {
  let collector: Collector;
  let stage: Stage;
  beforeAll(async () => {
    collector = await Collector.start();
    const seed = { users: [{ email: "ada@example.com" }], tables: { cities: { fields: { Code: "text" } } } };
    const headers = { OTEL_EXPORTER_OTLP_HEADERS: `authorization=${encodeURIComponent(header)}` };
    const environment = { ...collector.environment, ...headers, TRACEPARENT: `00-${trace}-${run}-01` };
    stage = await Stage.set(seed, {}, with_(providerKind, environment));
  });
  afterAll(async () => {
    await stage.clear();
    collector.stop();
  });

  const span = (fits: (span: Received) => boolean): Promise<Received> =>
    eventually("a span", () => collector.spans.find(fits));
  const named = (name: string): Promise<Received> => span((span) => span.name === name);

  test("each operation is a span of the run, and each call of the platform one below it", async () => {
    stage.host.resource = "acme";
    const { id } = await stage.create("Organization", { name: "Acme" });
    expect(id).not.toBe("");
    const created = await named("create Organization");
    expect([created.trace, created.parent, created.failed]).toEqual([trace, run, false]);
    expect(created.facts).toEqual({
      "microapps.operation": "create",
      "microapps.type": "Organization",
      "microapps.name": "acme",
      "microapps.outcome": "done",
    });
    const sent = await named("insertorganization");
    expect([sent.trace, sent.parent]).toEqual([trace, created.id]);
    expect(sent.facts).toMatchObject({ "microapps.attempt": 1, "http.response.status_code": 200 });
    expect(sent.milliseconds).toBeLessThanOrEqual(created.milliseconds + 1); // the platform's clock is in milliseconds
  });

  test("an operation is below the call of the engine that names a span", async () => {
    const request = new providerProto.ReadRequest().setId("none").setUrn(stage.host.urn("Team"));
    const { inputs } = await stage.host.check("Team", { organizationID: "none", name: "Crew" });
    const { default: structs } = await import("google-protobuf/google/protobuf/struct_pb.js");
    const given = { ...inputs, ...providerKind.given("Team", stage.host.urn("Team"), {}) };
    request.setProperties(structs.Struct.fromJavaScript(JSON.parse(JSON.stringify(given)) as Record<string, never>));
    const metadata = new grpc.Metadata();
    metadata.set("traceparent", `00-${trace}-${step}-01`);
    await stage.host.ask((client, done) => client.read(request, metadata, done));
    expect((await named("read Team")).parent).toBe(step);
    expect((await named("readteam")).parent).toBe((await named("read Team")).id);
  });

  test("a repeated batch tells attempts, waits and rows", async () => {
    stage.host.resource = "cities";
    stage.emulator.setFaults({ faults: [{ kind: "status", status: 429, endpoint: "insertmicroapprows", count: 1 }] });
    await stage.create("SeedRows", { table: "cities", key: "Code", rows: ["a", "b", "c"].map((Code) => ({ Code })) });
    const attempts = await eventually("both attempts", () => {
      const found = collector.spans.filter(({ name }) => name === "insertmicroapprows");
      return found.length === 2 && found.toSorted((a, b) => Number(a.failed) - Number(b.failed)).toReversed();
    });
    expect(attempts.map(({ facts }) => facts)).toMatchObject([
      { "microapps.attempt": 1, "microapps.batch": 2, "error.type": "rateLimited", "microapps.outcome": "none" },
      { "microapps.attempt": 2, "microapps.batch": 2, "microapps.outcome": "done" },
    ]);
    expect(attempts[1]?.facts["microapps.wait_ms"]).toBeGreaterThan(0);
    await span(({ name, facts }) => name === "microappdata" && facts["microapps.rows"] === 3);
  });

  test("a failure is told by its kind alone, and a refused check as refused", async () => {
    stage.host.resource = "lost";
    await expect(stage.create("Team", { organizationID: "none", name: "Crew" })).rejects.toThrow();
    expect((await named("create Team")).facts).toMatchObject({ "microapps.outcome": "failed", "error.type": "failed" });
    expect((await named("create Team")).failed).toBe(true);
    await stage.host.check("SeedRows", { table: "cities", key: "Code", rows: [{ Code: "a" }, { Code: "a" }] });
    await span(({ facts }) => facts["microapps.outcome"] === "refused");
  });

  test("no e-mail address, name of a person, row, key, password or header is in what is sent", async () => {
    const word = fc.stringMatching(/^[a-z]{9,14}$/);
    const words = fc.record({ person: word, cell: word, secret: word, name: word });
    const account = ["admin@example.com", "correct-horse", "key-of-the-operator"];
    const isSent = (name: string): boolean => collector.spans.at(-1)?.name === name;
    await fc.assert(
      fc.asyncProperty(words, async ({ person, cell, secret, name }) => {
        const before = collector.exported.length;
        const email = `${person}@example.com`;
        stage.host.resource = email;
        const { id: organizationID } = await stage.create("Organization", { name, description: secret });
        stage.host.resource = person;
        const { id: teamID } = await stage.create("Team", { organizationID, name: secret });
        await stage.create("TeamMember", { teamID, email }).catch(() => undefined);
        await stage.create("TeamMember", { teamID: secret, email }).catch(() => undefined);
        const rows = [{ Code: cell }];
        stage.host.resource = "rows";
        await stage.create("SeedRows", { table: "cities", key: "Code", rows, mode: "upsert", sensitive: true });
        await stage.create("SeedRows", { table: secret, key: "Code", rows }).catch(() => undefined);
        await eventually("the last span", () => collector.exported.length > before && isSent("create SeedRows"));
        const texts = new Map(collector.exported.map((bytes) => [bytes.toString("latin1"), "a span"]));
        expect(found(texts, [email, cell, secret, ...account, header])).toEqual([]);
      }),
      { numRuns: 3 },
    );
    expect(collector.headers.every(({ authorization }) => authorization === header)).toBe(true);
    expect(stage.host.printed).not.toContain(header);
  });
});

test.each(drawnFrom([dynamic, plugin], "OpenTelemetry"))(
  "our OpenTelemetry is loaded where somebody asks: the $name provider",
  async (providerKind) => {
    const tells = `import { registerHooks } from "node:module";
    registerHooks({ load: (url, context, next) => {
      if (/\\/(machine|bundle)\\/tracer\\.js$/.test(url)) console.error("loads OpenTelemetry");
      return next(url, context);
    } });`;
    const watched = ["--import", `data:text/javascript,${encodeURIComponent(tells)}`];
    const isLoaded = async (environment: Record<string, string>): Promise<boolean> => {
      const stage = await Stage.set({}, {}, { ...with_(providerKind, environment), nodeArguments: watched });
      await stage.create("Organization", { name: "Acme" });
      const { printed } = stage.host;
      await stage.clear();
      return printed.includes("loads OpenTelemetry");
    };
    expect(await isLoaded({})).toBe(false);
    expect(await isLoaded({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:1" })).toBe(true);
  },
);
