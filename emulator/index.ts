export { createEmulator, type Emulator, type EmulatorOptions } from "./emulator.ts";
export { readCalls, type CallFilter, type LoggedCall } from "./callLog.ts";
export { parseEmulatorEndpoint } from "./endpoint.ts";
export { SeedError } from "./seedLayers.ts";
export type { SeedInput } from "./seed.ts";
