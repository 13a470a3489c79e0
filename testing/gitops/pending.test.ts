import { afterAll, beforeAll, expect, test } from "@jest/globals";
import fc from "fast-check";
import { drawn } from "../../cli/report/testing/drawn.ts";
import { isLong } from "../harness/drawn.ts";
import { Forecasts, drift } from "./forecasts.ts";

// A step is an edit, what others did by hand since the last run, and the run. More with PROPERTY_RUNS=20.
const numRuns = Number(process.env["PROPERTY_RUNS"] ?? 1);
const steps = fc.array(fc.record({ environment: drawn, drifts: fc.array(drift, { maxLength: 3 }) }), {
  minLength: isLong ? 4 : 2,
  maxLength: isLong ? 4 : 2,
});

let forecasts: Forecasts;
beforeAll(async () => void (forecasts = await Forecasts.open()));
afterAll(() => forecasts.close());

test("what is pending is what the next up sends, whatever was edited, and whatever somebody did by hand", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (drawnSteps) => {
      await forecasts.begin();
      for (const step of drawnSteps) expect(await forecasts.surprises(step)).toEqual([]);
    }),
    { numRuns, endOnFailure: true }, // each step takes seconds
  );
});
