import fc from "fast-check";
import { startEmulatorsHere } from "../../cli/commands/emulator/emulators.ts";

// Property tests draw the same cases in every run; PROPERTY_SEED=<number> draws others.
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env["PROPERTY_SEED"] ?? 1) });

// The emulator shows at once what it has, so what is not found is gone; tests about late platforms set it.
process.env["MICROAPPS_CONSISTENCY_SECONDS"] ??= "0";
startEmulatorsHere();
