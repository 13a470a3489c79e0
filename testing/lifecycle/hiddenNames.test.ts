import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { hideProperties, unhidden } from "../../provider/pulumi/properties.ts";
import { seedRows } from "../../provider/resources/seedRows.ts";
import { dynamic, plugin } from "../harness/kinds.ts";
import { Stage } from "../harness/stage.ts";

const asSent = {
  sent: <Kept>(properties: Kept) => properties,
  seen: <Kept>(properties: Kept) => properties,
};

const shownOf = (properties: object): string[] =>
  Object.keys(properties)
    .filter((name) => !name.startsWith("__"))
    .toSorted();

describe.each([dynamic, plugin])("with the $name provider", (providerKind) => {
  let stage: Stage;
  beforeAll(async () => {
    const tables = { regions: { fields: { Code: "text", Name: "text" } } };
    stage = await Stage.set({ tables }, {}, { ...providerKind, ...asSent });
  });
  afterAll(() => stage.clear());

  test("an engine shows of a seed what says something, and a state of an earlier version goes on", async () => {
    const { host } = stage;
    const write = (rows: string): Promise<void> => writeFile(join(host.folder, "regions.csv"), `Code,Name\n${rows}`);
    await write("N,North\nS,South\n");
    const news = { table: "regions", key: "Code", source: "regions.csv" };
    const { id, inputs, outputs } = await stage.create("SeedRows", news);
    const settings = [
      "key",
      "maxRemovals",
      "mode",
      "onConflict",
      "onDestroy",
      "onViewersChange",
      "rowCount",
      "source",
      "table",
    ];
    expect(shownOf(inputs)).toEqual(settings);
    expect(shownOf(outputs)).toEqual([...settings, "labels", "platform"].toSorted());
    expect(hideProperties(seedRows, unhidden(seedRows, outputs))).toEqual(outputs);

    const [formerInputs, former] = [unhidden(seedRows, inputs), unhidden(seedRows, outputs)];
    expect(former).toMatchObject({ digest: outputs["__digest"], ledger: outputs["__ledger"] });
    const same = (await host.check("SeedRows", news, formerInputs)).inputs;
    expect(same).toEqual(inputs);
    expect(await host.diff("SeedRows", id, former, same)).toMatchObject({ changes: false });
    // A plugin is read in each preview, which shows what has another name as a change.
    if (providerKind === plugin) {
      expect((await host.read("SeedRows", id, former, formerInputs)).outputs).toEqual(former);
      expect((await host.read("SeedRows", id, outputs, inputs)).outputs).toEqual(outputs);
    }

    await write("N,North\nE,East\nW,West\n");
    const next = (await host.check("SeedRows", news, formerInputs)).inputs;
    expect(next).toMatchObject({ rowCount: 3 }); // known before anything is sent
    expect(await host.diff("SeedRows", id, former, next)).toMatchObject({ changes: true });
    expect(shownOf(await host.update("SeedRows", id, former, next))).toEqual(shownOf(outputs));
    await host.delete("SeedRows", id, former);
  });

  test("where rows that left the source stay, how many there are is known only afterwards", async () => {
    const { inputs } = await stage.host.check("SeedRows", {
      ...{ table: "regions", key: "Code", mode: "upsert" },
      rows: [{ Code: "N" }],
    });
    expect(inputs).not.toHaveProperty("rowCount");
  });
});
