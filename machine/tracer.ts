import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, type SpanContext } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-grpc";
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
  type Resource,
} from "@opentelemetry/resources";
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { setTimeout as pause } from "node:timers/promises";
import { readOwnPackage } from "./ownPackage.ts";

/** Attributes of a span: words of ours and numbers. */
export type Facts = Readonly<Record<string, string | number | undefined>>;

/** A span that has begun. */
export interface Span {
  /** How spans below name it: a `traceparent` of W3C Trace Context. */
  parent: string;
  /** @param error the kind of its failure; undefined when it did not fail */
  end: (facts: Facts, error?: string) => void;
}

export interface Tracer {
  /**
   * @param parent the `traceparent` that it is under; without a valid one it begins a trace
   * @param began milliseconds since the epoch; undefined for now
   */
  start: (name: string, kind: "internal" | "server" | "client", parent: string | undefined, began?: number) => Span;
  /** Sends what is left, as far as the collector answers; takes half a second at most. */
  flush: () => Promise<void>;
  /** The same, and keeps no process after that. */
  close: () => Promise<void>;
}

/** Milliseconds that spans wait for others: an engine may end this process right after its last answer. */
const delayMs = 20;
/** Milliseconds that the end of a process waits for a collector that has answered so far. */
const flushMs = 500;

/** Milliseconds that an export may take, since it keeps the process: spans are lost before anybody waits for them. */
const timeoutMillis = 1_000;

/** Makes a tracer that sends to a collector, to that of the environment's variables without a URL. */
export function tracerTo(service: string, collector: { url?: string }): Tracer {
  const exporter = new GreetingExporter({ ...collector, timeoutMillis });
  exporter.export([], () => undefined);
  const { name, version } = readOwnPackage();
  const provider = new BasicTracerProvider({
    resource: resourceOf(service, version),
    spanProcessors: [new BatchSpanProcessor(exporter, { scheduledDelayMillis: delayMs })],
  });
  const tracer = provider.getTracer(name, version);
  const flush = async (): Promise<void> => {
    if (!exporter.answers) return;
    const sent = provider.forceFlush().then(() => exporter.forceFlush());
    await Promise.race([sent, pause(flushMs, undefined, { ref: false })]).catch(() => undefined);
  };
  const kinds = { internal: SpanKind.INTERNAL, server: SpanKind.SERVER, client: SpanKind.CLIENT };
  return {
    start: (name, kind, parent, began) => {
      const above = contextIn(parent);
      const context = above ? trace.setSpanContext(ROOT_CONTEXT, { ...above, isRemote: true }) : ROOT_CONTEXT;
      const options = { kind: kinds[kind], ...(began === undefined ? {} : { startTime: began }) };
      const span = tracer.startSpan(name, options, context);
      const { traceId, spanId, traceFlags } = span.spanContext();
      return {
        parent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`,
        end: (facts, error) => {
          span.setAttributes(error === undefined ? facts : { ...facts, "error.type": error });
          if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR });
          span.end();
        },
      };
    },
    flush,
    close: async () => {
      await flush();
      void exporter.shutdown();
    },
  };
}

/** An exporter that greets its collector, so that it is known whether it answers: nobody waits for one that does not. */
class GreetingExporter extends OTLPTraceExporter {
  answers = false;

  override export(...[spans, done]: Parameters<OTLPTraceExporter["export"]>): void {
    super.export(spans, (result) => {
      const code: number = result.code;
      this.answers = code === 0; // ExportResultCode.SUCCESS of @opentelemetry/core
      done(result);
    });
  }
}

/** Attributes of all spans of this process. OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES take precedence. */
const resourceOf = (service: string, version: string): Resource =>
  defaultResource()
    .merge(resourceFromAttributes({ "service.name": service, "service.version": version }))
    .merge(detectResources({ detectors: [envDetector] }));

function contextIn(parent = ""): SpanContext | undefined {
  const [, traceId, spanId, flags] = /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})/.exec(parent) ?? [];
  if (!traceId || !spanId || !flags || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, traceFlags: parseInt(flags, 16) };
}
