import type { ServiceError, StatusObject } from "@grpc/grpc-js";
import type * as pb from "@pulumi/pulumi/proto/provider_pb.js";
import type { Message } from "google-protobuf";
import { statusCodes } from "../../machine/statusCodes.ts";
import type { Departure } from "../events.ts";

/** Calls a method of a provider by its name in gRPC. */
export type Call = (
  method: string,
  request: Message,
  done: (error: ServiceError | null, answer?: Message) => void,
) => void;

/** A provider in the engine's own process. `end`: its run ends in order, and what it answered is saved. */
export interface HostedCalls {
  call: Call;
  /** What becomes of what a deletion is about, which a run has not begun. */
  departs: (request: pb.DeleteRequest) => Promise<Departure | undefined>;
  end: () => Promise<void>;
}

/** An error as a handler answers it. */
type Status = Partial<StatusObject> & { message?: string };

type Handler = (call: { request: unknown }, done: (error: Status | null, answer?: Message) => void) => void;

/**
 * Calls handlers of gRPC without a connection. Answers are copied by their bytes, so that an engine gets what it would
 * get over a wire, whatever a platform answered. Requests are handed over: what they hold came to the engine by bytes, or
 * from its state, and handlers only read them.
 */
export function callsOf(handlers: Readonly<Record<string, unknown>>): Call {
  return (method, request, done) => {
    const handler = handlers[method] as Handler | undefined; // each is one, but for streams, which no engine asks for
    if (!handler) {
      done(failureOf({ code: statusCodes.UNIMPLEMENTED, details: `${method} is not implemented` }));
      return;
    }
    handler({ request }, (error, answer) => {
      if (error || !answer) done(failureOf(error ?? {}));
      else done(null, (answer.constructor as typeof Message).deserializeBinary(answer.serializeBinary()));
    });
  };
}

const noMetadata = { get: () => [] } as unknown as StatusObject["metadata"]; // what an engine asks it

/** The error as the client of a connection would throw it. */
function failureOf(status: Status): ServiceError {
  const { code = statusCodes.UNKNOWN, message = "", metadata = noMetadata } = status;
  const details = status.details ?? message;
  return Object.assign(new Error(details), { code, details, metadata });
}
