import type { Report } from "../resources/model/resource.ts";

const severities = { info: 1, warning: 2 } as const;

/** Milliseconds between two live lines of one resource: what is not a terminal prints each of them. */
const throttleMs = 1_000;

/** Milliseconds that a message may take to arrive. */
const logTimeoutMs = 1_000;

/** Reports the progress of a resource in the engine's own log, on the line of the resource with that URN. */
export type Reporter = (urn: string | undefined, clean: (text: string) => string) => HeardReport;

export interface HeardReport extends Omit<Report, "forecast"> {
  /** Resolves when the engine has received all reports: those after the answer to a call may come too late. */
  heard: () => Promise<void>;
}

/** A message for the log of an engine. */
export interface LogEntry {
  severity: "info" | "warning";
  message: string;
  urn: string | undefined;
  /** True for a live line, which the next one replaces. */
  ephemeral: boolean;
}

/** Reports to the engine at this address; without one, reports nothing. */
export function reporterTo(address: string | undefined): Reporter {
  if (address === undefined) {
    const nobody = {
      status: () => undefined,
      info: () => undefined,
      warning: () => undefined,
      heard: () => Promise.resolve(),
    };
    return () => nobody;
  }
  // Loaded when it is needed: a run may have nothing to say.
  const load = async () => {
    const [{ default: service }, { default: messages }, { default: grpc }] = await Promise.all([
      import("@pulumi/pulumi/proto/engine_grpc_pb.js"),
      import("@pulumi/pulumi/proto/engine_pb.js"),
      import("@grpc/grpc-js"),
    ]);
    return {
      messages,
      metadata: new grpc.Metadata(),
      engine: new service.EngineClient(address, grpc.credentials.createInsecure()),
    };
  };
  let loading: ReturnType<typeof load> | undefined;
  return reporterThrough(async ({ severity, message, urn, ephemeral }) => {
    const { messages, metadata, engine } = await (loading ??= load());
    const request = new messages.LogRequest();
    request.setSeverity(severities[severity]);
    request.setMessage(message);
    if (urn !== undefined) request.setUrn(urn);
    request.setEphemeral(ephemeral);
    // An engine that has ended needs no progress.
    await new Promise<void>((resolve) => {
      engine.log(request, metadata, { deadline: Date.now() + logTimeoutMs }, () => resolve());
    });
  });
}

/** @param send hands a message to the engine, which has it when this returns or resolves */
export function reporterThrough(send: (entry: LogEntry) => void | Promise<void>): Reporter {
  const lastOf = new Map<string, string>();

  return (urn, clean) => {
    const underway = new Set<Promise<void>>();
    const log = (severity: LogEntry["severity"], text: string, ephemeral: boolean): void => {
      const taken = Promise.resolve(send({ severity, message: clean(text), urn, ephemeral }));
      underway.add(taken);
      void taken.then(() => underway.delete(taken));
    };
    // An engine may ask for the same diff twice, of a refresh and of the plan after it.
    const once = (severity: LogEntry["severity"], text: string): void => {
      if (urn !== undefined && lastOf.get(urn) === text) return;
      if (urn !== undefined) lastOf.set(urn, text);
      log(severity, text, false);
    };
    let last = -Infinity;
    return {
      status: (text) => {
        const now = performance.now();
        if (now - last < throttleMs) return;
        last = now;
        log("info", text, true);
      },
      info: (text) => once("info", text),
      warning: (text) => once("warning", text),
      heard: async () => {
        await Promise.all(underway);
      },
    };
  };
}
