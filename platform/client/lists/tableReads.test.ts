import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { createEmulator, type Emulator } from "../../../emulator/index.ts";
import { createClient, type Client } from "../index.ts";
import { TableReads } from "./tableReads.ts";

const administrator = { email: "admin@example.com", password: "correct-horse" };
const tables = { codes: { name: "Codes", fields: { Code: "text" } } };

let emulator: Emulator;
let client: Client;
let now: number;
let reads: TableReads;

beforeEach(async () => {
  emulator = await createEmulator({ seed: { administrator, tables } });
  client = createClient({ endpoint: emulator.url, ...administrator });
  now = 0;
  reads = new TableReads(client, { ttlMs: 1_000, now: () => now });
});
afterEach(async () => {
  await client.close();
  await emulator.close();
});

const plant = (count: number) =>
  client.insertmicroapprows({
    microAppID: "codes",
    rows: Array.from({ length: count }, (_, i) => ({ Code: `C${i}` })),
  });
async function look(): Promise<number> {
  let count = 0;
  for await (const rows of reads.read("codes")) count += rows.length;
  return count;
}
async function calls(work: () => Promise<unknown>): Promise<number> {
  const since = emulator.calls().at(-1)?.sequence ?? 0;
  await work();
  return emulator.calls({ since }).filter(({ endpoint }) => endpoint === "microappdata").length;
}

test("many readers of a small table are one, also shortly afterwards", async () => {
  await plant(3);
  const once = await calls(look);
  now += 2_000;
  expect(await calls(async () => expect(await Promise.all([look(), look(), look()])).toEqual([3, 3, 3]))).toBe(once);
  expect(await calls(look)).toBe(0);
  now += 2_000;
  expect(await calls(look)).toBe(once);
});

test("what we change is read anew", async () => {
  await plant(3);
  await look();
  await plant(2);
  expect(await look()).toBe(3);
  reads.changed("codes");
  expect(await look()).toBe(5);
});

test("a change while a table is read does not keep what was read", async () => {
  await plant(3);
  for await (const rows of reads.read("codes")) if (rows.length > 0) reads.changed("codes");
  expect(await calls(look)).toBeGreaterThan(0);
});

test("a large table is everybody's own", async () => {
  await plant(10_000);
  await plant(1);
  expect(await Promise.all([look(), look()])).toEqual([10_001, 10_001]);
  expect(await calls(look)).toBeGreaterThan(1);
});

test("who leaves early, or meets a failure, lets the others read themselves", async () => {
  await plant(3);
  const leaving = async () => {
    for await (const rows of reads.read("codes")) return rows.length;
    return 0;
  };
  expect(await Promise.all([leaving(), look(), look()])).toEqual([3, 3, 3]);
  reads.changed("codes");
  emulator.setFaults({ faults: [{ endpoint: "microappdata", kind: "status", status: 403, count: 1 }] });
  const [first, second] = await Promise.allSettled([look(), look()]);
  expect([first.status, second.status].toSorted()).toEqual(["fulfilled", "rejected"]);
});
