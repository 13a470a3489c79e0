// Everything an operation needs, loaded together at its start: other commands have to start fast.
export { createDisplay } from "../display/display.ts";
export { execute } from "../execute.ts";
