import { spawn, type ChildProcess, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { afterEveryTest } from "../../testing/runner/endings.ts";

/** The emulator in a process of its own. */
export interface Running {
  url: string;
  /** Address of its console. */
  console: string;
  /** Sends a signal and waits for the end; gives exit status and the signal that ended it. */
  end: (signal: NodeJS.Signals) => Promise<[number | null, NodeJS.Signals | null]>;
}

const running = new Set<ChildProcess>();

afterEveryTest(async () => {
  for (const child of running) {
    child.kill("SIGKILL");
    await once(child, "exit");
  }
  running.clear();
});

export async function run(...parameters: string[]): Promise<Running> {
  const { child, end } = launch(...parameters);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const line = async (): Promise<string> => String((await lines.next()).value);
  return { url: await line(), console: (await line()).replace("console: ", ""), end };
}

/** Starts the emulator, which may not listen yet. */
export function launch(
  ...parameters: string[]
): Pick<Running, "end"> & { child: ChildProcessByStdio<null, Readable, null> } {
  const executable = fileURLToPath(new URL("./serve.js", import.meta.url));
  const child = spawn(process.execPath, ["--no-warnings", executable, "emulator", ...parameters], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  running.add(child);
  const ended = once(child, "exit").then((status) => {
    running.delete(child);
    return status as [number | null, NodeJS.Signals | null];
  });
  return {
    child,
    end: (signal) => {
      child.kill(signal);
      return ended;
    },
  };
}
