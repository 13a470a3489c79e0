import type { ServiceError } from "@grpc/grpc-js";
import { Resource, runtime as exported } from "@pulumi/pulumi";
import * as state from "@pulumi/pulumi/runtime/state.js";

interface Client {
  close: () => void;
}

type Done = (error: ServiceError | null, response: unknown) => void;

/** The SDK's connection to a monitor. */
interface Monitor extends Client {
  registerResource: (request: unknown, done: Done) => unknown;
}

/** The part of the SDK's own provider server that constructs components; its types hide it. */
interface Runtime {
  withLocalStorage: <Result>(work: () => Result) => Result;
  getStore: () => { settings: { monitor?: Client; engine?: Client } };
  getMonitor: () => Monitor;
  resetOptions: (
    project: string,
    stack: string,
    parallel: number,
    engine: string,
    monitor: string,
    isPreview: boolean,
    organization: string,
  ) => void;
  awaitFeatureSupport: () => Promise<void>;
  waitForRPCs: () => Promise<void>;
  setAllConfig: (values: Record<string, string>, secretKeys: string[]) => void;
}

const hidden = exported as unknown as Runtime;
const { getMonitor, resetOptions, awaitFeatureSupport, waitForRPCs, setAllConfig } = hidden;
const { withLocalStorage, getStore } = state as unknown as Runtime;

export const runtime: Runtime = {
  ...{ getMonitor, resetOptions, awaitFeatureSupport, waitForRPCs, setAllConfig },
  ...{ withLocalStorage, getStore },
};

/**
 * Leaves out where a resource comes from: below a component that would be a line of this package, on this machine, and a
 * state would change with each version of it.
 */
export function withoutPositions(): void {
  Object.assign(Resource, { stackTrace: () => [] });
}

/** Resolves with the first failure of a registration: the SDK leaves what waits for it waiting. */
export function firstFailure(): Promise<ServiceError> {
  const monitor = runtime.getMonitor();
  const register = monitor.registerResource.bind(monitor);
  return new Promise((resolve) => {
    monitor.registerResource = (request, done) =>
      register(request, (error, response) => {
        done(error, response);
        if (error) resolve(error);
      });
  });
}
