// What runs an operation, loaded together and when it is needed: other commands are to start fast.
export { createDisplay } from "../display/display.ts";
export { execute } from "../execute.ts";
