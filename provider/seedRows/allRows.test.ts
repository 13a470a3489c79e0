import { expect, test } from "@jest/globals";
import { hash } from "node:crypto";
import { summarize } from "./declaration.ts";
import { encodeLedger, ledgerOf, Sketch } from "./ledger.ts";

// Digests from the time when whole contents were in memory: states have them.
test.each([
  ["2:c2FsdA", 4_096, "5785b3dac1e9015a76aa2d06753d461e", "00588aa0fd7d09e5ca871752791db1c9"],
  ["2:c2FsdA", 5_000, "33e3a6e3838ffe93278e7c89b338cee5", "d110a23fd1f13c0eadd7786c987d0477"],
])("a salt %s: %i rows have the digest and the ledger that they had", async (salt, count, digest, ledger) => {
  const rows = Array.from({ length: count }, (_, at) => ({ Code: `K${at}`, Name: `Name ${at}` }));
  const summary = await summarize({ table: "t", key: ["Code"], rows, salt }, ".");
  // Versions up to 0.1.0 had a sketch of so many rows.
  const sketch = { kind: "sketch" as const, count, sketch: Sketch.of(4_000, summary.rows) };
  const text = encodeLedger(count > 4_096 ? sketch : ledgerOf(summary.rows));
  expect([summary.digest, hash("sha256", text).slice(0, 32)]).toEqual([digest, ledger]);
});
