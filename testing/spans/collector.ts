import grpc from "@grpc/grpc-js";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { bytesIn, fieldsOf, messagesIn, textIn, type Fields } from "./wire.ts";

/** A span as it arrived. */
export interface Received {
  service: string;
  name: string;
  trace: string;
  id: string;
  /** ID of the span above; empty for a root. */
  parent: string;
  facts: Readonly<Record<string, string | number>>;
  failed: boolean;
  milliseconds: number;
}

const path = "/opentelemetry.proto.collector.trace.v1.TraceService/Export";
const asIs = (bytes: Buffer): Buffer => bytes;

/** A collector of spans over OTLP/gRPC on this machine. */
export class Collector {
  /** All that came, as it was sent. */
  readonly exported: Buffer[] = [];
  readonly headers: Record<string, unknown>[] = [];
  /** Ends with the first spans, as a collector that is killed in the middle of a run. */
  stopAfterFirst = false;
  readonly #server = new grpc.Server();
  #port = 0;

  static async start(): Promise<Collector> {
    const collector = new Collector();
    const export_ = { path, requestStream: false, responseStream: false } as const;
    const plain = {
      requestSerialize: asIs,
      requestDeserialize: asIs,
      responseSerialize: asIs,
      responseDeserialize: asIs,
    };
    collector.#server.addService(
      { export: { ...export_, ...plain } },
      {
        export: (call: grpc.ServerUnaryCall<Buffer, Buffer>, done: grpc.sendUnaryData<Buffer>) => {
          collector.exported.push(call.request);
          collector.headers.push(call.metadata.getMap());
          if (collector.stopAfterFirst && collector.spans.length > 0) collector.stop();
          else done(null, Buffer.alloc(0));
        },
      },
    );
    collector.#port = await new Promise<number>((resolve, reject) => {
      collector.#server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, port) => {
        if (error) reject(error);
        else resolve(port);
      });
    });
    return collector;
  }

  /** The variables of a process that sends its spans here. */
  get environment(): Record<string, string> {
    return { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${this.#port}` };
  }

  stop(): void {
    this.#server.forceShutdown();
  }

  get spans(): Received[] {
    return this.exported.flatMap((bytes) => messagesIn(fieldsOf(bytes), 1)).flatMap(spansIn);
  }
}

function spansIn(group: Fields): Received[] {
  const [resource] = messagesIn(group, 1);
  const service = String(factsIn(resource, 1)["service.name"]);
  return messagesIn(group, 2)
    .flatMap((scope) => messagesIn(scope, 2))
    .map((span) => {
      const [trace = "", id = "", parent = ""] = [1, 2, 4].map((field) => bytesIn(span, field)[0]?.toString("hex"));
      const [began = 0n, ended = 0n] = [7, 8].map((field) => bytesIn(span, field)[0]?.readBigUInt64LE());
      const failed = messagesIn(span, 15)[0]?.get(3)?.[0] === 2n;
      const milliseconds = Number(ended - began) / 1e6;
      return { service, name: textIn(span, 5), trace, id, parent, facts: factsIn(span, 9), failed, milliseconds };
    });
}

function factsIn(fields: Fields | undefined, field: number): Record<string, string | number> {
  const pairs = messagesIn(fields, field).map((pair): [string, string | number] => {
    const [value] = messagesIn(pair, 2);
    const integer = value?.get(3)?.[0];
    return [textIn(pair, 1), typeof integer === "bigint" ? Number(integer) : textIn(value, 1)];
  });
  return Object.fromEntries(pairs);
}

/** A server that takes connections and never answers. */
export async function silentServer(): Promise<{ environment: Record<string, string>; close: () => void }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => undefined));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // it listens on TCP
  return {
    environment: { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` },
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
