import { createRequire } from "node:module";
import type { Report } from "../resources/resource.ts";

// The stubs are CommonJS and carry no usable types for a default import.
const require = createRequire(import.meta.url);

interface LogRequest {
  setSeverity(severity: number): void;
  setMessage(message: string): void;
  setUrn(urn: string): void;
  setEphemeral(ephemeral: boolean): void;
}
interface EngineStubs {
  EngineClient: new (
    address: string,
    credentials: unknown,
  ) => {
    log: (request: LogRequest, options: { deadline: number }, done: (error: unknown) => void) => void;
  };
}
interface MessageStubs {
  LogRequest: new () => LogRequest;
}

const severities = { info: 1, warning: 2 } as const;

/** Milliseconds between two live lines of one resource: what is not a terminal prints each of them. */
const pace = 1_000;

/** Milliseconds that a message may take to arrive. */
const patience = 1_000;

/** Tells people how resources go, by the engine's own log. */
export interface Reporter {
  /** Reports on the line of the resource with that URN. */
  on: (urn: string | undefined, clean: (text: string) => string) => Report;
  /** Resolves when what was told has arrived: after its step has ended, a message has no line of its own any more. */
  delivered: () => Promise<void>;
}

/** Reports to the engine at this address; everywhere else there is nobody to tell. */
export function reporterTo(address: string | undefined): Reporter {
  if (address === undefined) {
    const nobody = { status: () => undefined, info: () => undefined, warning: () => undefined };
    return { on: () => nobody, delivered: () => Promise.resolve() };
  }
  // Types: the parts of the stubs that are used here, as their .d.ts has them.
  const { EngineClient } = require("@pulumi/pulumi/proto/engine_grpc_pb.js") as EngineStubs;
  const { LogRequest } = require("@pulumi/pulumi/proto/engine_pb.js") as MessageStubs;
  const { credentials } = require("@grpc/grpc-js") as { credentials: { createInsecure: () => unknown } };
  const engine = new EngineClient(address, credentials.createInsecure());
  const underWay = new Set<Promise<void>>();
  const lastOf = new Map<string, string>();

  const on: Reporter["on"] = (urn, clean) => {
    const log = (severity: number, text: string, ephemeral: boolean): void => {
      const request = new LogRequest();
      request.setSeverity(severity);
      request.setMessage(clean(text));
      if (urn !== undefined) request.setUrn(urn);
      request.setEphemeral(ephemeral);
      // An engine that has gone needs no progress.
      const sent = new Promise<void>((resolve) =>
        engine.log(request, { deadline: Date.now() + patience }, () => resolve()),
      ).finally(() => underWay.delete(sent));
      if (!ephemeral) underWay.add(sent);
    };
    // An engine may ask for the same diff twice, of a refresh and of the plan after it.
    const once = (severity: number, text: string): void => {
      if (urn !== undefined && lastOf.get(urn) === text) return;
      if (urn !== undefined) lastOf.set(urn, text);
      log(severity, text, false);
    };
    let last = -Infinity;
    return {
      status: (text) => {
        const now = performance.now();
        if (now - last < pace) return;
        last = now;
        log(severities.info, text, true);
      },
      info: (text) => once(severities.info, text),
      warning: (text) => once(severities.warning, text),
    };
  };
  return {
    on,
    delivered: async () => {
      await Promise.all(underWay);
    },
  };
}
