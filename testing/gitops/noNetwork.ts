/** Loaded into the processes of a job that has no network: whoever opens a connection gets an error, and is written down. */
import { appendFileSync } from "node:fs";
import net from "node:net";

const log = new URL(import.meta.url).searchParams.get("log") ?? "";

// A socket on a path of the file system needs no network.
const isPath = (target: unknown): boolean =>
  typeof target === "string" || (typeof target === "object" && target !== null && "path" in target);

const connect = Reflect.get(net.Socket.prototype, "connect") as (...words: unknown[]) => net.Socket;
net.Socket.prototype.connect = function (this: net.Socket, ...words: unknown[]): net.Socket {
  const target = Array.isArray(words[0]) ? (words[0] as unknown[])[0] : words[0];
  if (isPath(target) && !(typeof target === "object" && target !== null && "port" in target)) {
    return Reflect.apply(connect, this, words);
  }
  appendFileSync(log, `${JSON.stringify(target)}\n`);
  process.nextTick(() => this.destroy(new Error("this job has no network")));
  return this;
};
