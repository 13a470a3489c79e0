import { dynamic } from "./doors.ts";
import { ProviderHost } from "./providerHost.ts";

/** The provider of dynamic resources, which programs in TypeScript use. */
export const DynamicHost = {
  start: (config: Readonly<Record<string, string>>): Promise<ProviderHost> => ProviderHost.start(dynamic, config),
};
