/**
 * Ends the process when the engine ends; loaded before the program and the provider host. The engine holds the other
 * end of descriptor 3, which closes however it ends. Otherwise a host would finish its work and stay, and the next run
 * would do the same work twice.
 */
import { readSync } from "node:fs";
import { Socket } from "node:net";
import { isMainThread } from "node:worker_threads";

const end = (): never => {
  process.kill(process.pid, "SIGKILL");
  return process.exit(); // not reached
};

if (isMainThread) {
  if (process.env["MICROAPPS_LIFELINE"]) takeVariables();
  const line = new Socket({ fd: 3, readable: true, writable: false });
  line.on("error", end);
  line.on("close", end);
  line.resume();
  // It must not keep alive a program that has nothing left to do.
  line.unref();
  // Processes that the program forks have another descriptor 3, and TypeScript's loader looks for options like this one:
  // it goes, and the engine's flags before it, which no worker takes.
  const option = process.execArgv.indexOf("--import");
  if (option >= 0) process.execArgv.splice(0, option + 2);
}

/** Takes variables over the line: others can look up what a process was started with. */
function takeVariables(): void {
  delete process.env["MICROAPPS_LIFELINE"];
  const pieces: Buffer[] = [];
  while (pieces.at(-1)?.at(-1) !== 0x0a) {
    const piece = Buffer.alloc(65_536);
    const length = readSync(3, piece);
    if (length === 0) end();
    pieces.push(piece.subarray(0, length));
  }
  Object.assign(process.env, JSON.parse(Buffer.concat(pieces).toString("utf8")));
}
