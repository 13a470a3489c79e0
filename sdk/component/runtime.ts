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
