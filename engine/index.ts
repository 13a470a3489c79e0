export { EngineError, Refusal } from "./errors.ts";
export { replaceKeeping } from "./state/atomicWrite.ts";
export { printableJson } from "./terminal/json.ts";
export { printable } from "./terminal/text.ts";
export { projectFolder, stateAtRest, stateInClear } from "./workspace/stateAtRest.ts";
export { Workspace } from "./workspace/workspace.ts";
