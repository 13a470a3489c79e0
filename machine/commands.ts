import { spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import { messageOf } from "./failures.ts";

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/**
 * Runs a command with further variables, or without those that are undefined, beside this process: it has the terminal, and
 * gets the signals that come here.
 * The answer is its exit status as a shell has it, 127 where it can't be run.
 */
export async function runCommand(
  [name = "", ...parameters]: readonly string[],
  variables: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const pass = (signal: NodeJS.Signals): void => {
    // A terminal has sent its interrupt to both.
    if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
  };
  for (const signal of signals) process.on(signal, pass);
  const child = spawn(name, parameters, { stdio: "inherit", env: { ...process.env, ...variables } });
  try {
    const [status, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
    return status ?? 128 + (signal === null ? 0 : constants.signals[signal]);
  } catch (error) {
    process.stderr.write(`error: ${name} can't be run: ${messageOf(error)}\n`);
    return 127;
  } finally {
    for (const signal of signals) process.off(signal, pass);
  }
}

/** Waits until this process is asked to end. */
export const waitForInterrupt = (): Promise<void> =>
  new Promise((stop) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop());
  });
