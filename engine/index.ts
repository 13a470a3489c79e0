export { EngineError } from "./errors.ts";
export { printableJson } from "./terminal/json.ts";
export { oneLine, printable } from "./terminal/text.ts";
export { projectFolder, stateAtRest, stateInClear } from "./workspace/stateAtRest.ts";
export { Workspace } from "./workspace/workspace.ts";
