import { createEmulator as create, type Emulator, type EmulatorOptions } from "../../../emulator/index.ts";
import { parseEmulatorEndpoint } from "../../../platform/seed/schema.ts";
import { seedFiles } from "./seedFile.ts";

/**
 * Starts an emulator on this machine. Rejects with a SeedError for a wrong seed or profile, which has a line for each
 * mistake, with file, line and column of those in files.
 */
export const createEmulator = (options: EmulatorOptions = {}): Promise<Emulator> => create(options, seedFiles);

/** Starts the emulator of an endpoint for a program in this folder; the process may end while it is open. */
export const startAt = (endpoint: string, directory: string): Promise<Emulator> =>
  createEmulator({ ...parseEmulatorEndpoint(endpoint, directory), program: directory, unref: true });
