import { dynamic } from "./doors.ts";
import { ProviderHost } from "./providerHost.ts";

/** The provider behind the dynamic door, which is the one that programs in TypeScript use. */
export const DynamicHost = {
  start: (config: Readonly<Record<string, string>>): Promise<ProviderHost> => ProviderHost.start(dynamic, config),
};
