import { Resource } from "@pulumi/pulumi";
import * as config from "@pulumi/pulumi/runtime/config.js";
import * as settings from "@pulumi/pulumi/runtime/settings.js";
import * as state from "@pulumi/pulumi/runtime/state.js";

interface Closable {
  close: () => void;
}

/** What the SDK's own provider server constructs components with; its types hide it. */
interface Runtime {
  withLocalStorage: <Result>(work: () => Result) => Result;
  getStore: () => { settings: { monitor?: Closable; engine?: Closable } };
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

export const runtime = { ...config, ...settings, ...state } as unknown as Runtime;

/**
 * Leaves out where a resource comes from: below a component that would be a line of this package, on this machine, and a
 * state would change with each version of it.
 */
export function withoutPositions(): void {
  Object.assign(Resource, { stackTrace: () => [] });
}
