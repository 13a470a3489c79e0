/**
 * Loaded before the program and the provider host: ends the process when the engine is gone. The engine holds the
 * other end of descriptor 3, which closes with it however it ends; otherwise a host would finish what it was doing
 * and stay, and the next run would do the same thing twice.
 */
import { Socket } from "node:net";

const line = new Socket({ fd: 3, readable: true, writable: false });
line.on("error", end);
line.on("close", end);
line.resume();
// It must not keep alive a program that has nothing left to do.
line.unref();

function end(): void {
  process.kill(process.pid, "SIGKILL");
}
