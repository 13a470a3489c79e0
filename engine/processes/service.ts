import { setTimeout } from "node:timers/promises";
import { EngineError } from "../errors.ts";
import { describeEnd, type Started, type StartOptions } from "./process.ts";

/** The process that serves a provider. */
export interface Service extends Lifetime {
  address: Promise<string>;
}

/** How what serves a provider ends. */
export interface Lifetime {
  /** Describes how it ended by itself; undefined while it runs. */
  ended: () => Promise<string | undefined>;
  /** Ends the process. `cancel` asks the provider to stop its work first. */
  stop: (cancel: () => Promise<void>) => Promise<void>;
}

type OnLine = StartOptions["onLine"];

/** How to start a service, whose process prints its port as a line of its own. */
export interface ServiceOptions {
  /** Its name in errors, such as `the plugin /path`. */
  name: string;
  start: (onLine: OnLine) => Started;
  /** Receives all that it prints but the port. When this throws, the service fails with that error. */
  onLine: (line: string, stream: "stdout" | "stderr", ready: boolean) => void;
  /** Adds its last output to the description of its end. */
  describeOutput: () => string;
  stop: (started: Started, cancel: () => Promise<void>) => Promise<void>;
}

/** Starts a service. Its address resolves when the process has printed its port. */
export function serve({ name, start, onLine, describeOutput, stop }: ServiceOptions): Service {
  let stopped = false;
  let ready = false;
  let found: (address: string) => void = () => undefined;
  let unusable: (error: unknown) => void = () => undefined;
  const announced = new Promise<string>((resolve, reject) => {
    found = resolve;
    unusable = reject;
  });
  const started = start((line, stream) => {
    // The first line is the port; everything later is the user's.
    if (!ready && stream === "stdout" && /^\d+\s*$/.test(line)) {
      ready = true;
      found(`127.0.0.1:${line.trim()}`);
      return;
    }
    try {
      onLine(line, stream, ready);
    } catch (error) {
      unusable(error);
      started.kill();
    }
  });
  const failure = started.ended.then(
    (end) => `${name} ${describeEnd(end)}, and took what it was doing with it${describeOutput()}`,
  );
  const address = Promise.race([
    announced,
    started.ended.then((end) =>
      Promise.reject(new EngineError(`could not start the provider: ${name} ${describeEnd(end)}${describeOutput()}`)),
    ),
  ]);
  // Whoever needs the address sees the failure; nobody may need it.
  address.catch(() => undefined);
  failure.catch(() => undefined);
  return {
    address,
    // A broken connection is noticed a moment before the end of the process.
    ended: async () => (stopped ? undefined : await Promise.race([failure, setTimeout(1000, undefined)])),
    stop: async (cancel) => {
      stopped = true;
      await stop(started, cancel);
      started.kill();
      await started.ended.catch(() => undefined);
    },
  };
}
