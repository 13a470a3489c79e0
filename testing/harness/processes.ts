import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

interface Process {
  pid: number;
  parent: number;
  command: string;
}

/** The provider host or, by another name, the plugin that an engine has started. */
export async function hostOf(engine: number, name = "dynamic-provider"): Promise<number> {
  const isHost = ({ parent, command }: Process): boolean => parent === engine && command.includes(name);
  return (await eventually("a provider host", () => processes().find(isHost))).pid;
}

/** The command lines of the processes that another one has started. */
export const childrenOf = (pid: number): string[] =>
  processes().flatMap(({ parent, command }) => (parent === pid ? [command] : []));

/**
 * The processes of ours that still run in a folder after a moment; known on Linux alone, none elsewhere. A Pulumi CLI that
 * is killed leaves the host of the program's language behind, which is not ours: it is ended here.
 */
export async function leftRunning(folder: string): Promise<string[]> {
  const isOurs = ({ command }: Process): boolean => !command.includes("/pulumi-language-");
  const ours = (): Process[] => inside(folder).filter(isOurs);
  await eventually("the end of what was started", () => ours().length === 0).catch(() => undefined);
  for (const one of inside(folder)) if (!isOurs(one)) attempt(() => process.kill(one.pid));
  return ours().map(({ pid, command }) => `${pid} ${command}`);
}

/**
 * Looks every 10 ms until something is there, and gives it back.
 * @param timeoutMs after which it throws
 */
export async function eventually<Found>(
  what: string,
  look: () => Found | false | undefined,
  timeoutMs = 120_000,
): Promise<Found> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const found = look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > deadline) throw new Error(`${what} did not come about within ${timeoutMs / 1000} s`);
    await sleep(10);
  }
}

function inside(folder: string): Process[] {
  if (!existsSync("/proc/self/cwd")) return [];
  return processes().filter(({ pid }) => attempt(() => readlinkSync(`/proc/${pid}/cwd`))?.startsWith(folder));
}

function processes(): Process[] {
  if (!existsSync("/proc/self/stat"))
    return listed(execFileSync("ps", ["-axo", "pid=,ppid=,command="], { encoding: "utf8" }));
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    const stat = attempt(() => readFileSync(`/proc/${name}/stat`, "utf8"));
    const command = attempt(() => readFileSync(`/proc/${name}/cmdline`, "utf8"));
    // The name of the program, in brackets, may hold anything.
    const [state, parent] = stat?.slice(stat.lastIndexOf(")") + 2).split(" ") ?? [];
    if (command === undefined || parent === undefined || state === "Z") return [];
    return [{ pid: Number(name), parent: Number(parent), command: command.replaceAll("\0", " ").trim() }];
  });
}

const listed = (text: string): Process[] =>
  [...text.matchAll(/^\s*(\d+)\s+(\d+)\s+(.*)$/gm)].map(([, pid, parent, command = ""]) => ({
    pid: Number(pid),
    parent: Number(parent),
    command,
  }));

/** Undefined when the process has ended while it was looked at. */
function attempt<Found>(look: () => Found): Found | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
