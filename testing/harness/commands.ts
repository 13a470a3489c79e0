import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Answer, Command } from "./commandHost.ts";

// A run of an engine is three processes, and a case several runs.

// A process for each command would take most of its time to start. They end with the process that runs the tests.
const idle: ChildProcess[] = [];

/** Runs a command line of the executable in a process that has run others before. */
export async function runCommand(command: Command): Promise<Answer> {
  const host =
    idle.pop() ?? fork(join(import.meta.dirname, "commandHost.js"), { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  host.ref();
  host.channel?.ref();
  const failed = new AbortController();
  const ended = once(host, "exit", failed).then(([code]) =>
    Promise.reject(new Error(`the command's process ended with ${String(code)}`)),
  );
  const answered = once(host, "message", failed) as Promise<[Answer]>; // the event's only argument
  host.send(command);
  try {
    const [answer] = await Promise.race([answered, ended]);
    host.unref();
    host.channel?.unref();
    idle.push(host);
    return answer;
  } finally {
    ended.catch(() => undefined);
    answered.catch(() => undefined);
    failed.abort();
  }
}
