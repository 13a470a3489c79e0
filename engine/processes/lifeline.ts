/**
 * Ends the process when the engine ends; loaded before the program and the provider host. The engine holds the other
 * end of descriptor 3, which closes however it ends. Otherwise a host would finish its work and stay, and the next run
 * would do the same work twice.
 */
import { Socket } from "node:net";
import { isMainThread } from "node:worker_threads";

if (isMainThread) {
  const end = (): void => void process.kill(process.pid, "SIGKILL");
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
