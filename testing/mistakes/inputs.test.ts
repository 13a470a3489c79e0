import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { casesIn } from "../harness/cases.ts";
import * as testedKinds from "../harness/kinds.ts";
import { runsInPulumi } from "../harness/project.ts";
import type { Properties } from "../harness/providerHost.ts";
import { Stage } from "../harness/stage.ts";
import { known, MistakeBench } from "./bench.ts";

const files = {
  "sheet.xlsx": "PK",
  "broken.json": '[\n{"Code":"N",}]',
  "numbers.yaml": "- Code: N\n- Code: 007\n",
  "data/other.csv": "",
};
type Cases = Record<string, [inputs: Properties, ...problems: string[]][]>;
const cases = Object.entries(casesIn("testing/mistakes/testdata/inputs.yaml") as Cases).flatMap(([type, all]) =>
  all.map(([inputs, ...problems]) => [type, inputs, problems] as const),
);

describe.each(Object.values(testedKinds))("with the $name provider", (providerKind) => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await Stage.set({ tables: { regions: { fields: { Code: "text" } } } }, {}, providerKind);
    const { folder } = stage.host;
    await mkdir(join(folder, "data"));
    for (const [file, text] of Object.entries(files)) await writeFile(join(folder, file), text);
  });
  afterAll(() => stage.clear());

  test.each(cases)("%s %j", async (type, inputs, expected) => {
    const since = stage.emulator.lastCall();
    const { problems } = await stage.host.check(type, inputs);
    expect(problems).toEqual(expected);
    expect(stage.emulator.calls({ since })).toEqual([]);
  });
});

// In programs that the Pulumi CLI of TEST_PULUMI runs; without one the cases above cover everything.
if (runsInPulumi) {
  describe("in a program", () => {
    let bench: MistakeBench;
    beforeAll(async () => (bench = await MistakeBench.start()));
    afterAll(() => bench.close());

    // A program that makes one of a type that is gone fails there, and in programs a parent is { rows, by }.
    const programs = cases.filter(([type, inputs]) => type !== "UserTeams" && !("parent" in inputs));
    test.each(programs)("%s %j", async (type, inputs, expected) => {
      const program = `new ${type}("thing", ${JSON.stringify(inputs)});`;
      const told = `error: pulumi-nodejs:dynamic/microapps:${type} resource 'thing' has a problem: `;
      expect(await bench.errorsOf({ program, files, command: known })).toEqual(expected.map((text) => told + text));
    });
  });
}
