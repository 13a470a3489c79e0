import { parseEmulatorEndpoint } from "../../../platform/seed/address.ts";
import { useEmulators } from "../../../provider/pulumi/emulators.ts";

/** Lets the providers of this process start emulators. Loaded when one is asked for: most runs need none. */
export const startEmulatorsHere = (): void =>
  useEmulators({
    start: async (endpoint, directory) => {
      const { createEmulator } = await import("./createEmulator.ts");
      return createEmulator({ ...parseEmulatorEndpoint(endpoint, directory), program: directory, unref: true });
    },
    fieldTypes: async (endpoint, directory) => (await import("./fieldsAt.ts")).fieldTypesAt(endpoint, directory),
  });
