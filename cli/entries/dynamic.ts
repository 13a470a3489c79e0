import { startEmulatorsHere } from "../commands/emulator/emulators.ts";

startEmulatorsHere();

export { handler } from "../../provider/pulumi/dynamic.ts";
