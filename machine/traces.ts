import type { Tracer } from "./tracer.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Where an environment wants spans to go over OTLP/gRPC: to the receiver of the Pulumi CLI that started this process, or
 * to a collector. Undefined where nobody asks for spans, or asks for them over another protocol.
 */
export function collectorIn(environment: Environment): { url?: string } | undefined {
  const { PULUMI_OTEL_EXPORTER_OTLP_ENDPOINT: receiver, ...standard } = environment;
  if (receiver) return { url: receiver.includes("://") ? receiver : `http://${receiver}` };
  // The exporter reads addresses, headers and certificates of a collector itself.
  if (!standard["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] && !standard["OTEL_EXPORTER_OTLP_ENDPOINT"]) return undefined;
  const protocol = standard["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"] || standard["OTEL_EXPORTER_OTLP_PROTOCOL"] || "grpc";
  const exporters = (standard["OTEL_TRACES_EXPORTER"] || "otlp").split(",").map((name) => name.trim());
  const isOff = standard["OTEL_SDK_DISABLED"]?.toLowerCase() === "true" || !exporters.includes("otlp");
  return isOff || protocol !== "grpc" ? undefined : {};
}

/**
 * Makes a tracer where the environment wants one: nothing of OpenTelemetry is loaded otherwise. Resolves to undefined
 * where OpenTelemetry can't read the variables.
 */
export function openTracer(service: string, environment: Environment): Promise<Tracer | undefined> | undefined {
  const collector = collectorIn(environment);
  return collector && import("./tracer.ts").then(({ tracerTo }) => tracerTo(service, collector)).catch(() => undefined);
}
