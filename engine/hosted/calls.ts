import grpc from "@grpc/grpc-js";
import type * as pb from "@pulumi/pulumi/proto/provider_pb.js";
import type { Departure } from "../events.ts";

/** A provider as the engine's own process calls it: by the names of gRPC. `end`: its run ends in order. */
export interface HostedCalls {
  call: (method: string, request: Message, done: (error: grpc.ServiceError | null, answer?: Message) => void) => void;
  /** What becomes of what a deletion is about, which a run has not begun. */
  departs: (request: pb.DeleteRequest) => Promise<Departure | undefined>;
  end: () => Promise<void>;
}

type Message = object;

/** An error as a handler answers it. */
type Status = Partial<grpc.StatusObject> & { message?: string };

type Handler = (call: { request: unknown }, done: (error: Status | null, answer?: unknown) => void) => void;

/**
 * Calls handlers of gRPC without a connection. Answers are copied by their bytes, so that an engine gets what it would
 * get over a wire, whatever a platform answered. Requests are handed over: what they hold came to the engine by bytes, or
 * from its state, and handlers only read them.
 */
export function callsOf(service: grpc.ServiceDefinition, handlers: Readonly<Record<string, unknown>>) {
  return (
    method: string,
    request: Message,
    done: (error: grpc.ServiceError | null, answer?: Message) => void,
  ): void => {
    const definition = service[method];
    const handler = handlers[method] as Handler | undefined; // each is one, but for streams, which no engine asks for
    if (!definition || !handler) {
      done(failureOf({ code: grpc.status.UNIMPLEMENTED, details: `${method} is not implemented` }));
      return;
    }
    handler({ request }, (error, answer) => {
      if (error) done(failureOf(error));
      else done(null, definition.responseDeserialize(definition.responseSerialize(answer)) as Message);
    });
  };
}

/** The error as the client of a connection would throw it. */
function failureOf(status: Status): grpc.ServiceError {
  const { code = grpc.status.UNKNOWN, message = "", metadata = new grpc.Metadata() } = status;
  const details = status.details ?? message;
  return Object.assign(new Error(details), { code, details, metadata });
}
