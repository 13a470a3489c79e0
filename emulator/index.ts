export { createEmulator, type Emulator, type EmulatorOptions, type OnDemandInstance } from "./emulator.ts";
export { readCalls, type CallFilter, type LoggedCall, type NewCall } from "./data/callLog.ts";
export { SeedError, type SeedFiles } from "./seed/checking.ts";
