export { EngineError, Refusal } from "./errors.ts";
export { replaceKeeping } from "./state/atomicWrite.ts";
export { printableJson } from "./terminal/json.ts";
export { isPipeline, withoutCommands } from "./terminal/pipelines.ts";
export { ask, isInteractive, processTerminal, readTyped, type Terminal } from "./terminal/prompts.ts";
export { oneLine, printable, wrapped } from "./terminal/text.ts";
export { setConfig } from "./workspace/configEdits.ts";
export { projectFolder, stateAtRest, stateInClear } from "./workspace/stateAtRest.ts";
export { type Stack, Workspace } from "./workspace/workspace.ts";
