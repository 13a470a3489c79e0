// The parts of OpenTelemetry that send spans: a file of its own in dist/bundle, which nothing loads where nobody asks for spans.
export { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, type SpanContext } from "@opentelemetry/api";
export { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-grpc";
export {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
  type Resource,
} from "@opentelemetry/resources";
export { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
