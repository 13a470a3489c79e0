import { createServer as createHttp2Server } from "node:http2";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { isOwnPeer } from "./peers.ts";

/** The status of gRPC for a refused caller. */
const permissionDenied = 7;

const sentence =
  "this run is another user's: it answers processes of the user who started it, and this one runs as somebody else";

export interface Loopback {
  port: number;
  /** Takes no more connections, and ends those that were refused. */
  close: () => void;
}

/**
 * Listens on a free port of this machine. Passes on connections of this user's processes, and answers those of others
 * with a refusal that gRPC understands.
 */
export async function listenForOwn(accept: (socket: Socket) => void): Promise<Loopback> {
  const refused = new Set<Socket>();
  const refusal = createHttp2Server();
  refusal.on("stream", (stream) => {
    stream.on("error", () => undefined); // who is refused may hang up
    const status = { "grpc-status": String(permissionDenied), "grpc-message": sentence };
    stream.respond({ ":status": 200, "content-type": "application/grpc+proto", ...status }, { endStream: true });
    stream.session?.close();
  });
  refusal.on("sessionError", () => undefined);
  const server = createServer((socket) => {
    if (isOwnPeer(socket)) {
      accept(socket);
      return;
    }
    refused.add(socket);
    socket.on("error", () => undefined).once("close", () => refused.delete(socket));
    socket.setTimeout(5_000, () => socket.destroy());
    refusal.emit("connection", socket);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo; // it listens on TCP
  return {
    port,
    close: () => {
      server.close();
      for (const socket of refused) socket.destroy();
    },
  };
}
