import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Fact } from "../../provider/conformance/fact.ts";
import { loadFacts } from "../../provider/conformance/load.ts";
import type { PlatformClient } from "../../provider/conformance/platformClient.ts";
import { runFacts, type FactResult, type FactRun } from "../../provider/conformance/run.ts";
import { createPlatformClient, isForClients } from "../testing/platformClient.ts";
import { startSandbox, type ConformanceSandbox } from "../testing/sandbox.ts";

const facts = loadFacts();

interface Way {
  facts: readonly Fact[];
  how: (stage: ConformanceSandbox) => Partial<FactRun>;
}

const ways: Record<string, Way> = {
  "in the first form": { facts, how: ({ reset }) => ({ spelling: "first", reset }) },
  "in the other form": { facts, how: ({ reset }) => ({ spelling: "other", reset }) },
  "through the client": {
    facts: facts.filter(isForClients),
    how: ({ reset, emulator, sandbox }) => ({ reset, client: createPlatformClient(emulator.url, sandbox) }),
  },
};

describe.each(Object.entries(ways))("%s", (_name, { facts, how }) => {
  let stage: ConformanceSandbox;
  let client: PlatformClient | undefined;
  let results: Map<string, FactResult>;

  beforeAll(async () => {
    stage = await startSandbox();
    const { sandbox, send, emulated } = stage;
    const way = how(stage);
    ({ client } = way);
    const run = await runFacts({ facts, sandbox, send, emulator: emulated, ...way });
    results = new Map(run.map((result) => [result.fact.id, result]));
  });
  afterAll(async () => {
    await client?.leave();
    await stage.close();
  });

  test.each(facts.map(({ id, rule }) => ({ id, rule })))("$id: $rule", ({ id }) => {
    const { fact: _, habit: __, ...result } = results.get(id) ?? { status: "missing" };
    expect(result).toEqual({ status: "passed" });
  });
});
