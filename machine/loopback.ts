import { readFileSync } from "node:fs";
import { createServer as createHttp2Server } from "node:http2";
import { type AddressInfo, createServer, isIPv4, type Socket } from "node:net";
import { endianness } from "node:os";

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

type End = Pick<Socket, "localAddress" | "localPort" | "remoteAddress" | "remotePort">;

/** How often the tables are read: they change while they are read. */
const maxReads = 3;

/**
 * True when a process of this user opened the accepted connection, which must use IPv4. Always true on systems other
 * than Linux, which alone shows the owner.
 * @param read reads a table of connections; a parameter for tests
 */
export function isOwnPeer(end: End, read: (table: string) => string = tableOf): boolean {
  if (process.platform !== "linux" || process.geteuid === undefined) return true;
  const [ours, theirs] = [nameOf(end.localAddress, end.localPort), nameOf(end.remoteAddress, end.remotePort)];
  if (ours === undefined || theirs === undefined) return true;
  for (let look = 0; look < maxReads; look++) {
    const table = read("tcp");
    // A peer may have a socket of IPv6 for an address of IPv4.
    const owner = ownerOf(table, theirs, ours) ?? ownerOf(read("tcp6"), mapped + theirs, mapped + ours);
    if (owner !== undefined) return owner === process.geteuid();
    // A table without our own end shows nothing.
    if (!table.includes(` ${ours} ${theirs} `)) return true;
  }
  return false; // it hung up, so nobody waits for an answer
}

function tableOf(name: string): string {
  try {
    return readFileSync(`/proc/net/${name}`, "latin1");
  } catch {
    return "";
  }
}

const isLittle = endianness() === "LE";

/** How the kernel writes `::ffff:` before an address of IPv4. */
const mapped = `0000000000000000${isLittle ? "FFFF0000" : "0000FFFF"}`;

/** Writes an address and a port as the kernel does; undefined for IPv6. */
function nameOf(address = "", port = 0): string | undefined {
  if (!isIPv4(address)) return undefined;
  const bytes = Buffer.from(address.split(".").map(Number));
  const hex = (isLittle ? bytes.reverse() : bytes).toString("hex").toUpperCase();
  return `${hex}:${port.toString(16).toUpperCase().padStart(4, "0")}`;
}

/** Finds the user of an open connection; undefined when there is none, or nobody holds it. */
function ownerOf(table: string, from: string, to: string): number | undefined {
  const at = table.indexOf(` ${from} ${to} 01 `);
  if (at < 0) return undefined;
  const [, , , , , , owner = "", , inode] = table.slice(at + 1, table.indexOf("\n", at)).split(/\s+/);
  return inode === "0" ? undefined : Number(owner);
}
