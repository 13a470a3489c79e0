import fc from "fast-check";

// Property tests draw the same cases in every run; PROPERTY_SEED=<number> draws others.
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env["PROPERTY_SEED"] ?? 1) });
