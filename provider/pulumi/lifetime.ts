import { readFileSync } from "node:fs";
import { readdir, readFile, readlink } from "node:fs/promises";
import { connect } from "node:http2";
import { setFlagsFromString } from "node:v8";

/** Milliseconds for running calls to end: no engine gets their answers, but intent files keep them. */
const gracePeriodMs = 1_500;

/**
 * Ends this process when its engine has ended: after a kill it would go on creating things that nobody records. `stop`
 * ends running operations between two calls, and the process ends soon after.
 * @param address where the engine listens
 */
export function endWithEngine(address: string | undefined, stop: () => void): void {
  let ending = false;
  const end = (): void => {
    if (ending) return;
    ending = true;
    // First of all, so that nothing that goes wrong with the rest keeps the process.
    setTimeout(() => process.exit(1), gracePeriodMs);
    stop();
  };
  whenOrphaned(address, end);
  if (address !== undefined) onEngineEnd(address, end);
}

/** Refusals in a row after which nobody listens any more: one alone may be a full queue. */
const maxRefusals = 3;

/** Milliseconds until the next attempt after a refusal, and after a connection that did not last. */
const pauseMs = { refused: 100, brief: 1_000 };

/**
 * Calls `onEnd` once when the engine at this address has ended, which closes an idle connection to it. The connection
 * speaks HTTP/2: a gRPC server drops one that stays silent, and waits for it at its own end. It keeps no process alive.
 */
export function onEngineEnd(address: string, onEnd: () => void): void {
  const url = `http://${address}`;
  if (!URL.canParse(url)) return;
  let refusals = 0;
  const look = (): void => {
    const began = performance.now();
    const session = connect(url);
    session.unref();
    session.once("connect", () => (refusals = 0));
    session.on("error", (error: NodeJS.ErrnoException) => {
      refusals = error.code === "ECONNREFUSED" ? refusals + 1 : 0;
    });
    session.once("close", () => {
      if (refusals >= maxRefusals) {
        onEnd();
        return;
      }
      const lasted = performance.now() - began > pauseMs.brief;
      const pause = refusals > 0 ? pauseMs.refused : lasted ? 0 : pauseMs.brief;
      setTimeout(look, pause).unref();
    });
  };
  look();
}

/** Milliseconds between two looks at the chain of parents. */
const intervalMs = 250;

/**
 * Calls `orphaned` once when the engine has ended, or a process between it and this one. Where a system does not show
 * the processes in between, watches the parent alone.
 */
function whenOrphaned(address: string | undefined, orphaned: () => void): void {
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

let isSmall = false;

/**
 * Keeps this process small while rows stream through it: they are many and short-lived, and left to itself V8 takes
 * 200 MB more for them to save a tenth of the work. A process without rows keeps V8's own ways: many members of a team
 * cost it a sixth less.
 */
export function keepMemorySmallFor({ name }: { name: string }): void {
  if (isSmall || name !== "SeedRows") return;
  isSmall = true;
  setFlagsFromString("--semi-space-growth-factor=1");
  setFlagsFromString("--heap-growing-percent=60");
}
