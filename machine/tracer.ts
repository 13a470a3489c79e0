import { createRequire } from "node:module";
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

// Types: the parts of OpenTelemetry that are used here, as their .d.ts have them. They come with @pulumi/pulumi.
interface SpanContext {
  traceId: string;
  spanId: string;
  traceFlags: number;
}
interface Api {
  ROOT_CONTEXT: object;
  trace: { setSpanContext: (context: object, span: SpanContext & { isRemote: boolean }) => object };
  SpanKind: { INTERNAL: number; SERVER: number; CLIENT: number };
  SpanStatusCode: { ERROR: number };
}
interface SdkSpan {
  spanContext: () => SpanContext;
  setAttributes: (facts: Facts) => void;
  setStatus: (status: { code: number }) => void;
  end: () => void;
}
interface Exporter {
  export: (spans: readonly unknown[], done: (result: { code: number }) => void) => void;
  forceFlush: () => Promise<void>;
  shutdown: () => Promise<void>;
}
interface Sdk {
  BasicTracerProvider: new (options: { resource: unknown; spanProcessors: readonly unknown[] }) => {
    getTracer: (
      name: string,
      version: string,
    ) => { startSpan: (name: string, options: { kind: number; startTime?: number }, context: object) => SdkSpan };
    forceFlush: () => Promise<void>;
  };
  BatchSpanProcessor: new (exporter: Exporter, options: { scheduledDelayMillis: number }) => unknown;
}
interface Resources {
  defaultResource: () => { merge: (other: unknown) => { merge: (other: unknown) => unknown } };
  resourceFromAttributes: (facts: Facts) => unknown;
  detectResources: (options: { detectors: readonly unknown[] }) => unknown;
  envDetector: unknown;
}

/** Milliseconds that spans wait for others: an engine may end this process right after its last answer. */
const delayMs = 20;
/** Milliseconds that the end of a process waits for a collector that has answered so far. */
const flushMs = 500;

/** Milliseconds that an export may take, since it keeps the process: spans are lost before anybody waits for them. */
const timeoutMillis = 1_000;

/** Makes a tracer that sends to a collector, to that of the environment's variables without a URL. Throws without OpenTelemetry. */
export function tracerTo(service: string, collector: { url?: string }): Tracer {
  const ofPulumi = createRequire(createRequire(import.meta.url).resolve("@pulumi/pulumi/package.json"));
  const { ROOT_CONTEXT, trace, SpanKind, SpanStatusCode } = ofPulumi("@opentelemetry/api") as Api;
  const { BasicTracerProvider, BatchSpanProcessor } = ofPulumi("@opentelemetry/sdk-trace-base") as Sdk;
  const { OTLPTraceExporter } = ofPulumi("@opentelemetry/exporter-trace-otlp-grpc") as {
    OTLPTraceExporter: new (options: { url?: string; timeoutMillis: number }) => Exporter;
  };
  const exporter = observed(new OTLPTraceExporter({ ...collector, timeoutMillis }));
  const { name, version } = readOwnPackage();
  const provider = new BasicTracerProvider({
    resource: resourceOf(ofPulumi("@opentelemetry/resources") as Resources, service, version),
    spanProcessors: [new BatchSpanProcessor(exporter, { scheduledDelayMillis: delayMs })],
  });
  const tracer = provider.getTracer(name, version);
  const flush = async (): Promise<void> => {
    if (!exporter.answers()) return;
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
function observed(exporter: Exporter): Exporter & { answers: () => boolean } {
  let answered = false;
  const send: Exporter["export"] = (spans, done) =>
    exporter.export(spans, (result) => {
      answered = result.code === 0;
      done(result);
    });
  send([], () => undefined);
  return {
    export: send,
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
    answers: () => answered,
  };
}

/** Attributes of all spans of this process. OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES take precedence. */
function resourceOf(resources: Resources, service: string, version: string): unknown {
  const { defaultResource, resourceFromAttributes, detectResources, envDetector } = resources;
  const own = resourceFromAttributes({ "service.name": service, "service.version": version });
  return defaultResource()
    .merge(own)
    .merge(detectResources({ detectors: [envDetector] }));
}

function contextIn(parent = ""): SpanContext | undefined {
  const [, traceId, spanId, flags] = /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})/.exec(parent) ?? [];
  if (!traceId || !spanId || !flags || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, traceFlags: parseInt(flags, 16) };
}
