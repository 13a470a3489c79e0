import { openTracer } from "../../machine/traces.ts";
import type { Emit } from "../events.ts";

/** The span of a run, which is the root of what its providers do. */
export interface RunSpan {
  /** The environment for providers: it names this span as the one above theirs. */
  environment: NodeJS.ProcessEnv;
  end: (succeeded: boolean) => Promise<void>;
}

/** Begins the span of a run, where the environment has a collector for it; under the span that it names, if any. */
export async function beginRunSpan(name: string, environment: NodeJS.ProcessEnv, emit: Emit): Promise<RunSpan> {
  const none: RunSpan = { environment, end: () => Promise.resolve() };
  const opening = openTracer("microapps", environment);
  if (!opening) return none;
  const tracer = await opening;
  if (!tracer) {
    const message = "no spans are sent: OpenTelemetry can't read the OTEL_EXPORTER_OTLP_… variables";
    emit({ type: "log", severity: "warning", message });
    return none;
  }
  const span = tracer.start(`microapps ${name}`, "internal", environment["TRACEPARENT"]);
  return {
    environment: { ...environment, TRACEPARENT: span.parent },
    end: async (succeeded) => {
      const outcome = succeeded ? "done" : "failed";
      span.end({ "microapps.operation": name, "microapps.outcome": outcome }, succeeded ? undefined : outcome);
      await tracer.close();
    },
  };
}
