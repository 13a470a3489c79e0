import { afterAll, jest } from "@jest/globals";
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Answer, Command } from "./commandHost.ts";

// A run of an engine is three processes, and a case several runs.
jest.setTimeout(240_000);

// A process for each command would take most of its time to start.
const idle: ChildProcess[] = [];
let isOver = false;

afterAll(async () => {
  isOver = true;
  const hosts = idle.splice(0);
  const exited = hosts.map((host) => once(host, "exit"));
  for (const host of hosts) host.disconnect();
  await Promise.all(exited);
});

/** Runs a command line of the executable in a process that has run others before. */
export async function runCommand(command: Command): Promise<Answer> {
  const host =
    idle.pop() ?? fork(join(import.meta.dirname, "commandHost.js"), { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const failed = new AbortController();
  const ended = once(host, "exit", failed).then(([code]) =>
    Promise.reject(new Error(`the command's process ended with ${String(code)}`)),
  );
  const answered = once(host, "message", failed) as Promise<[Answer]>; // the event's only argument
  host.send(command);
  try {
    const [answer] = await Promise.race([answered, ended]);
    if (isOver) host.disconnect();
    else idle.push(host);
    return answer;
  } finally {
    ended.catch(() => undefined);
    answered.catch(() => undefined);
    failed.abort();
  }
}
