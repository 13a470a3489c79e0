import { expect, test } from "@jest/globals";
import { collectorIn, openTracer } from "./traces.ts";

const otlp = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4317" };

test.each<[string, Record<string, string>, object | undefined]>([
  ["nothing", {}, undefined],
  ["an empty address", { OTEL_EXPORTER_OTLP_ENDPOINT: "" }, undefined],
  ["a collector", otlp, {}],
  ["a collector for traces alone", { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://127.0.0.1:4317" }, {}],
  ["gRPC by name", { ...otlp, OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" }, {}],
  ["another protocol", { ...otlp, OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf" }, undefined],
  ["another protocol for traces", { ...otlp, OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "http/json" }, undefined],
  ["no traces", { ...otlp, OTEL_TRACES_EXPORTER: "none" }, undefined],
  ["traces to a console", { ...otlp, OTEL_TRACES_EXPORTER: "console" }, undefined],
  ["traces to both", { ...otlp, OTEL_TRACES_EXPORTER: "console, otlp" }, {}],
  ["no OpenTelemetry", { ...otlp, OTEL_SDK_DISABLED: "TRUE" }, undefined],
  ["Pulumi's receiver", { PULUMI_OTEL_EXPORTER_OTLP_ENDPOINT: "127.0.0.1:4317" }, { url: "http://127.0.0.1:4317" }],
  [
    "Pulumi's before all",
    { ...otlp, PULUMI_OTEL_EXPORTER_OTLP_ENDPOINT: "127.0.0.1:1" },
    { url: "http://127.0.0.1:1" },
  ],
])("spans where the environment says: %s", (_, environment, expected) => {
  expect(collectorIn(environment)).toEqual(expected);
});

test("an address that is none is no failure, and nothing is loaded where nobody asks", async () => {
  expect(openTracer("tests", {})).toBeUndefined();
  await expect(openTracer("tests", { PULUMI_OTEL_EXPORTER_OTLP_ENDPOINT: "http://[:" })).resolves.toBeUndefined();
});
