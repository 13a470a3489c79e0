import { availableParallelism } from "node:os";
import { random } from "../../emulator/platform/faults.ts";
import { allCases, kindOf, seedFrom, shuffled, told, untouched, type Case } from "./cases.ts";
import { Workshop } from "./lab.ts";

// Tries every case, or those whose description holds the given words, and prints the failures.
const words = process.argv.slice(2);
const seed = seedFrom(process.env, Math.floor(Math.random() * 1_000_000));
console.log(`FAULTS_SEED=${seed}`);

const workshop = await Workshop.open(availableParallelism());
const all = allCases(workshop.courses, random(seed));
console.log(`no resource calls, and only client.test.ts hits ${untouched(all).join(", ")}`);
// In any order, so that what is wrong shows early.
const cases = shuffled(
  all.filter((one) => words.every((word) => told(one).includes(word))),
  random(seed),
);
console.log(`${cases.length} cases`);

/** Seconds from which on a case is reported as slow. */
const slow = 60;
const counts = new Map<string, { tried: number; reached: number; failed: number }>();
let done = 0;
const failed: Case[] = [];
await workshop.tryAll(cases, (one, { problems, reached, seconds }) => {
  if (seconds > slow) console.log(`${Math.round(seconds)} s: ${told(one)}`);
  const kind = `${one.providerKind} ${one.stage}, ${kindOf(one)}`;
  const count = counts.get(kind) ?? { tried: 0, reached: 0, failed: 0 };
  count.tried++;
  if (reached) count.reached++;
  if (problems.length > 0) {
    count.failed++;
    failed.push(one);
    console.log(`✗ ${told(one)}\n    ${problems.join("\n").replaceAll("\n", "\n    ")}`);
  }
  counts.set(kind, count);
  if (++done % 20 === 0) console.log(`${done} of ${cases.length}, ${failed.length} failed`);
});
await workshop.close();

console.table(Object.fromEntries([...counts].toSorted(([a], [b]) => a.localeCompare(b))));
console.log(`${cases.length - failed.length} of ${cases.length} cases are well`);
process.exitCode = failed.length > 0 || cases.length === 0 ? 1 : 0;
