export { createEmulator, type Emulator, type EmulatorOptions, type OnDemandInstance } from "./emulator.ts";
export { readCalls, type CallFilter, type LoggedCall } from "./data/callLog.ts";
export { parseEmulatorEndpoint } from "./address.ts";
export { SeedError } from "./seed/file.ts";
export type { SeedInput } from "./seed/schema.ts";
