import { readFileSync } from "node:fs";
import { isIPv4, type Socket } from "node:net";
import { endianness } from "node:os";

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
