import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { isLong } from "../../testing/harness/drawn.ts";
import { childrenOf, eventually, hostOf } from "../../testing/harness/processes.ts";
import { EngineError } from "../errors.ts";
import type { EngineEvent } from "../events.ts";
import { writeDurably } from "../state/atomicWrite.ts";
import { integrityProblem } from "../state/snapshot.ts";
import { setConfig } from "../workspace/configEdits.ts";
import { Sandbox } from "./sandbox.ts";

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = new Sandbox();
  const own = await sandbox.init();
  await setConfig(own, "token", "s3cr3t", own.crypter);
});
afterEach(() => sandbox.remove());

const errors = (events: EngineEvent[]): string[] =>
  events.flatMap((event) => (event.type === "log" && event.severity === "error" ? [event.message] : []));

describe("a full disk", () => {
  test("fails the run at whichever write it happens, and never leaves a state that cannot be read", async () => {
    let writes = 0;
    await sandbox.run({}, {}, (file, text) => {
      writes++;
      return writeDurably(file, text);
    });
    expect(writes).toBeGreaterThan(5);
    for (let failing = 1; failing <= writes; failing += isLong ? 1 : 12) {
      const fresh = new Sandbox();
      try {
        const stack = await fresh.init();
        await setConfig(stack, "token", "s3cr3t", stack.crypter);
        let count = 0;
        const ran = await fresh.run({}, {}, (file, text) => {
          if (++count >= failing) throw new EngineError(`could not write ${file}: the disk is full`);
          return writeDurably(file, text);
        });
        expect({ failing, succeeded: ran.succeeded }).toEqual({ failing, succeeded: false });
        expect(errors(ran.events).join("\n")).toContain("the disk is full");
        const { resources, operations } = await (await fresh.stack()).read();
        expect(integrityProblem(resources)).toBeUndefined();
        // Everything that exists is in the state, or stands there as something that was begun.
        const known = new Set([
          ...resources.map(({ id }) => id),
          ...operations.map(({ resource }) => `${JSON.stringify(resource.inputs["name"])}1`.replaceAll(`"`, "")),
        ]);
        expect(Object.keys(fresh.cloud()).filter((id) => !known.has(id))).toEqual([]);
      } finally {
        fresh.remove();
      }
    }
  });
});

describe("a provider that is killed", () => {
  test("fails what it was doing, ends the run, and leaves no process", async () => {
    await setConfig(await sandbox.stack(), "slow", "20000");
    const running = sandbox.run();
    const isSlow = (inputs: unknown): boolean => (inputs as { name?: unknown }).name === "slow";
    await eventually("a slow creation", () =>
      sandbox.calls().some(([method, inputs]) => method === "create" && isSlow(inputs)),
    );
    process.kill(await hostOf(process.pid), "SIGKILL");
    const ran = await running;
    expect(ran.succeeded).toBe(false);
    expect(errors(ran.events)).toContain(
      "the provider process was killed by SIGKILL, and took what it was doing with it",
    );
    const { resources, operations } = await (await sandbox.stack()).read();
    expect(operations).toEqual([]);
    expect(resources.map(({ urn }) => urn.split("::").at(-1))).not.toContain("slow");
    expect(childrenOf(process.pid).filter((command) => command.includes("@pulumi"))).toEqual([]);

    await setConfig(await sandbox.stack(), "slow", "0");
    expect((await sandbox.run()).succeeded).toBe(true);
  });
});
