import { startEmulatorsHere } from "../commands/emulator/emulators.ts";

startEmulatorsHere();

export * from "../../sdk/index.ts";
