import { expect, test } from "@jest/globals";
import { join } from "node:path";
import { temporaryFolder } from "../../testing/harness/folders.ts";
import { eventually } from "../../testing/harness/processes.ts";
import { createEmulator, readCalls } from "../index.ts";
import { signIn, start, type Caller } from "./platform.ts";
import { run } from "./processes.ts";

const tables = { items: { fields: { Code: { type: "text", sort: 1 }, Text: "text" } } } as const;

const count = async (caller: Caller) => {
  const query = { microAppID: "items", searchFilter: [{ limit: 100_000, skip: 0 }] };
  return ((await caller.get("body.microAppRows", "microappdata", query)) as unknown[]).length;
};
const batch = (length: number) => ({
  microAppID: "items",
  rows: Array.from({ length }, (_, n) => ({ Code: `C${n}`, Text: "x".repeat(200) })),
});

test("a batch is there whole or not at all after the process was killed in its midst", async () => {
  const data = join(temporaryFolder(), "platform.db");
  await (await createEmulator({ data, seed: { tables } })).close();
  let expected = 0;
  // The last one is killed when it has answered.
  for (const delay of [5, 30, 90, undefined]) {
    const process = await run("--data", data);
    const admin = await signIn(process.url);
    const answered = admin.call("insertmicroapprows", batch(10_000)).then(
      () => true,
      () => false,
    );
    await (delay === undefined ? answered : new Promise((resolve) => setTimeout(resolve, delay)));
    expect(await process.end("SIGKILL")).toEqual([null, "SIGKILL"]);
    const after = await createEmulator({ data });
    const rows = await count(await signIn(after.url));
    const logged = after.calls({ mutating: true }).length;
    await after.close();
    expect([expected, expected + 10_000]).toContain(rows);
    if (await answered) expect(rows).toBe(expected + 10_000); // what was answered is never lost
    expect(logged).toBe(rows / 10_000); // the log records each completed call
    if (delay === undefined) expect(await answered).toBe(true);
    expected = rows;
  }
});

test("a process that is interrupted answers what is under way and ends", async () => {
  const data = join(temporaryFolder(), "platform.db");
  await (await createEmulator({ data, seed: { tables } })).close();
  const process = await run("--data", data, "--port", "0");
  const admin = await signIn(process.url);
  const answers = Promise.allSettled(Array.from({ length: 5 }, () => admin.call("insertmicroapprows", batch(2000))));
  await eventually("a call", () => readCalls(data, { endpoint: "insertmicroapprows" }).length > 0);
  expect(await process.end("SIGINT")).toEqual([0, null]);
  const done = (await answers).filter((answer) => answer.status === "fulfilled" && answer.value.status === 200);
  expect(done).not.toEqual([]);
  const after = await start({ data });
  expect(await count(await signIn(after.url))).toBe(done.length * 2000);
});
