import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { peakMemory, timeWork } from "../measure.ts";

export const microapps = path.join(import.meta.dirname, "../../../bundle/microapps.js");

/** Cost of one command: milliseconds, and MB at most. */
export interface CommandCost {
  time: number;
  memory: number;
}

/** Runs a program of Node in a folder. Throws where it does not end with 0. */
export async function runNode(
  folder: string,
  words: readonly string[],
  variables: Readonly<Record<string, string | undefined>> = {},
): Promise<CommandCost> {
  let memory = 0;
  const time = await timeWork(async () => {
    const child = spawn(process.execPath, words, {
      cwd: folder,
      env: { ...process.env, ...variables },
      stdio: ["ignore", "ignore", "inherit"],
    });
    const watch = setInterval(() => (memory = Math.max(memory, peakMemory(child.pid) || 0)), 50);
    const [status] = (await once(child, "exit")) as [number | null]; // the event's first argument
    clearInterval(watch);
    if (status !== 0) throw new Error(`${words.join(" ")} ended with ${String(status)}`);
  });
  return { time, memory };
}

/** Runs the command line in a folder. */
export const runMicroapps = (
  folder: string,
  words: readonly string[],
  variables?: Readonly<Record<string, string | undefined>>,
): Promise<CommandCost> => runNode(folder, ["--no-warnings", microapps, ...words], variables);
