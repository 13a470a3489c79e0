export type { CallFilter, EmulatorOptions, Emulator, LoggedCall, OnDemandInstance } from "../../emulator/index.ts";
export { readCalls, SeedError } from "../../emulator/index.ts";
export { parseEmulatorEndpoint } from "../../platform/seed/schema.ts";
export type { SeedInput } from "../../platform/seed/schema.ts";
export { createEmulator } from "../commands/emulator/createEmulator.ts";
