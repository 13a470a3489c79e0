import { useEmulators } from "../../../provider/pulumi/configuration.ts";

/** Lets the providers of this process start emulators. All is loaded when one is asked for: most runs need none. */
export const startEmulatorsHere = (): void =>
  useEmulators({
    start: async (endpoint, directory) => (await import("./createEmulator.ts")).startAt(endpoint, directory),
  });
