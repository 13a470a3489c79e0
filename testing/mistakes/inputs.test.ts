import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { casesIn } from "../harness/cases.ts";
import * as testedKinds from "../harness/kinds.ts";
import type { Properties } from "../harness/providerHost.ts";
import { Stage } from "../harness/stage.ts";

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
