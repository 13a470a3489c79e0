/**
 * Ends the process when the engine ends; loaded before the program and the provider host. The engine holds the other
 * end of descriptor 3, which closes however it ends. Otherwise a host would finish its work and stay, and the next run
 * would do the same work twice.
 */
import { createRequire } from "node:module";
import { Socket } from "node:net";
import { isMainThread } from "node:worker_threads";
import "./lateModules.ts";
import { waitingWord } from "./waitingWord.ts";

if (isMainThread) {
  const line = new Socket({ fd: 3, readable: true, writable: false });
  line.on("error", end);
  line.on("close", end);
  line.resume();
  // Processes that the program forks have another descriptor 3, and TypeScript's loader looks for options like this one:
  // it goes, and the engine's flags before it, which no worker takes.
  const option = process.execArgv.indexOf("--import");
  if (option >= 0) process.execArgv.splice(0, option + 2);
  if (process.argv[2] === waitingWord) await begin(line);
  // It must not keep alive a program that has nothing left to do.
  line.unref();
}

/** Loads what each program needs and no variable changes, then takes arguments and the rest of the environment. */
async function begin(line: Socket): Promise<void> {
  const taken = readLine(line);
  // Comes after what a project loads before its program, such as instrumentation.
  if (process.execArgv.length === 0 && !process.env["NODE_OPTIONS"]) preload();
  const { words, variables } = JSON.parse(await taken) as { words: string[]; variables: NodeJS.ProcessEnv };
  process.argv.splice(2, 1, ...words);
  Object.assign(process.env, variables);
}

function preload(): void {
  const load = createRequire(process.argv[1] ?? "");
  for (const name of ["@grpc/grpc-js", "@pulumi/pulumi/proto/resource_grpc_pb.js"]) {
    try {
      load(name);
    } catch {
      // The runner reports what is missing.
    }
  }
}

function readLine(line: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    line.setEncoding("utf8").on("data", function take(piece: string) {
      text += piece;
      if (!text.endsWith("\n")) return;
      line.off("data", take).resume();
      resolve(text);
    });
  });
}

function end(): void {
  process.kill(process.pid, "SIGKILL");
}
