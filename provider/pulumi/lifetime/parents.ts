import { readFileSync } from "node:fs";
import { readdir, readFile, readlink } from "node:fs/promises";

/** Milliseconds between two looks at the chain of parents. */
const intervalMs = 250;

/**
 * Calls `orphaned` once when the engine has ended, or a process between it and this one. Where a system does not show
 * the processes in between, watches the parent alone.
 */
export function whenOrphaned(address: string | undefined, orphaned: () => void): void {
  const parent = process.ppid;
  let links: Link[] = [];
  if (address !== undefined) void linksTo(address).then((found) => (links = found));
  const timer = setInterval(() => {
    if (process.ppid === parent && links.every((link) => parentOf(link.child) === link.parent)) return;
    clearInterval(timer);
    orphaned();
  }, intervalMs);
  timer.unref();
}

/** A process and the one that started it. */
interface Link {
  child: number;
  parent: number;
}

/**
 * The processes between this one and the engine, from /proc. Those above the engine, such as a terminal, may end without
 * it, so nothing is known while the engine is not found: it is the one that listens at the address.
 */
async function linksTo(address: string): Promise<Link[]> {
  try {
    const sockets = await listenersAt(Number(address.slice(address.lastIndexOf(":") + 1)));
    const links: Link[] = [];
    for (let child = process.ppid; child > 1;) {
      if (await holdsSocket(child, sockets)) return links;
      const parent = parentOf(child);
      if (parent === undefined) break;
      links.push({ child, parent });
      child = parent;
    }
  } catch {
    // There is no /proc, or it hides processes of other users.
  }
  return [];
}

/** The sockets that listen on a port, as /proc names them. */
async function listenersAt(port: number): Promise<ReadonlySet<string>> {
  const tables = await Promise.all(
    ["tcp", "tcp6"].map((name) => readFile(`/proc/self/net/${name}`, "latin1").catch(() => "")),
  );
  const hexadecimal = port.toString(16).toUpperCase().padStart(4, "0");
  const listening = new RegExp(
    String.raw`^\s*\d+: [0-9A-F]+:${hexadecimal} \S+ 0A \S+ \S+ \S+\s+\d+\s+\d+ (\d+)`,
    "gm",
  );
  const inodes = [...tables.join("\n").matchAll(listening)].map(([, inode = ""]) => `socket:[${inode}]`);
  return new Set(inodes);
}

async function holdsSocket(pid: number, sockets: ReadonlySet<string>): Promise<boolean> {
  const folder = `/proc/${pid}/fd`;
  const files = await readdir(folder).catch(() => []);
  const targets = await Promise.all(files.map((file) => readlink(`${folder}/${file}`).catch(() => "")));
  return targets.some((target) => sockets.has(target));
}

/** The parent of a process; undefined when the process has ended. */
function parentOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name of the program, in brackets, may hold anything.
    const [, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return Number(parent);
  } catch {
    return undefined;
  }
}
