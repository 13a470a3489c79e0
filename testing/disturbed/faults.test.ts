import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { random } from "../../emulator/platform/faults.ts";
import { isLong } from "../harness/drawn.ts";
import { allCases, sampled, seedFrom, told } from "./cases.ts";
import { Workshop } from "./lab.ts";

// The same sample of the matrix in every run; `make test-faults` tries all of it.
const count = isLong ? 12 : 1;
const seed = seedFrom(process.env, 610_613);

let workshop: Workshop;
beforeAll(async () => {
  workshop = await Workshop.open(1);
});
afterAll(() => workshop.close());

test("after a fault, an outage or a kill one up converges, and nothing is doubled, lost or touched that is not ours", async () => {
  const numbers = random(seed);
  const cases = sampled(allCases(workshop.courses, numbers), count, numbers);
  expect(cases).toHaveLength(count);
  const failures: string[] = [];
  await workshop.tryAll(cases, (one, { problems }) => {
    if (problems.length > 0) failures.push(`${told(one)}\n  ${problems.join("\n  ")}`);
  });
  if (failures.length > 0) {
    throw new Error(`${failures.join("\n")}\nRepeat it with FAULTS_SEED=${seed} make test ARGS=testing/disturbed`);
  }
  process.stdout.write(`FAULTS_SEED=${seed}: ${cases.map(told).join("; ")}\n`);
});
