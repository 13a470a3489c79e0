import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { callByHTTP, startSandbox, type ConformanceSandbox } from "../testing/sandbox.ts";
import { loadFacts } from "./facts.ts";
import { runFacts, type FactResult } from "./run.ts";

const facts = loadFacts();

// Through the client they are tried with the command: cli/commands/verify/verify.test.ts.
describe.each(["documented", "other"] as const)("in the %s form", (form) => {
  let stage: ConformanceSandbox;
  let results: Map<string, FactResult>;

  beforeAll(async () => {
    stage = await startSandbox();
    const { sandbox, reset } = stage;
    const call = callByHTTP(stage, form);
    const run = await runFacts({ facts, call, sandbox, mark: "microapps-verify-test", reset });
    results = new Map(run.results.map((result) => [result.fact.id, result]));
  });
  afterAll(() => stage.close());

  test.each(facts.map(({ id, rule }) => ({ id, rule })))("$id: $rule", ({ id }) => {
    const { fact: _, ...result } = results.get(id) ?? { status: "missing" };
    expect(result).toEqual({ status: "fits" });
  });
});
