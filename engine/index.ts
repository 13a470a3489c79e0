export { addEngineCommands, refuseUnknownCommands, tellFailure } from "./cli/cli.ts";
export { execute, type RunOptions } from "./engine.ts";
export { hasChanges, type RunResult } from "./outcome.ts";
export { EngineError, Refusal } from "./errors.ts";
export type { ChangeCounts, Emit, EngineEvent, Op, PropertyChange, RunKind, Severity, StepInfo } from "./events.ts";
export { breakLocks, Lock } from "./lock.ts";
export { getConfig, removeConfig, setConfig } from "./settings.ts";
export { type Place, Stack, Workspace } from "./stack.ts";
