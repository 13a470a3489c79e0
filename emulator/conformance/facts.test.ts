import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Spelling } from "../../provider/conformance/forms.ts";
import { ownFacts } from "../../provider/conformance/load.ts";
import { runFacts, type Result } from "../../provider/conformance/run.ts";
import { startBed, type TestBed } from "../testing/bed.ts";

const facts = ownFacts();

describe.each<Spelling>(["first", "other"])("in the %s form", (spelling) => {
  let stage: TestBed;
  let results: Map<string, Result>;

  beforeAll(async () => {
    stage = await startBed();
    const { bed, send, emulated, reset } = stage;
    const run = await runFacts({ facts, bed, send, spelling, emulator: emulated, reset });
    results = new Map(run.map((result) => [result.fact.id, result]));
  });
  afterAll(() => stage.close());

  test.each(facts.map(({ id, rule }) => ({ id, rule })))("$id: $rule", ({ id }) => {
    const { fact: _, habit: __, ...result } = results.get(id) ?? { status: "missing" };
    expect(result).toEqual({ status: "passed" });
  });
});
