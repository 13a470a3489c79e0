import { afterEach, expect, test } from "@jest/globals";
import { Deployment } from "../faults/deployment.ts";
import type { Declared } from "../faults/program.ts";
import { drawnFrom } from "../harness/drawn.ts";
import * as testedKinds from "../harness/kinds.ts";
import { Stage } from "../harness/stage.ts";

const tables = {
  regions: { fields: { Code: "text" } },
  prices: { fields: { Region: { type: "linked", table: "regions", field: "Code" }, Year: "text", Price: "text" } },
} as const;

/** Prices are known by the region that they are linked to. */
const program = (names: { regions: string; prices: string }): Declared[] => [
  {
    name: names.regions,
    type: "SeedRows",
    inputs: () => ({ table: "regions", key: "Code", rows: [{ Code: "N" }, { Code: "E" }] }),
  },
  {
    name: names.prices,
    type: "SeedRows",
    inputs: () => ({
      table: "prices",
      key: ["Region", "Year"],
      references: { Region: { table: "regions", key: "Code" } },
      rows: [
        { Region: "N", Year: "2026", Price: "1" },
        { Region: "E", Year: "2026", Price: "2" },
      ],
    }),
  },
];

let stage: Stage;
afterEach(() => stage.clear());

test.each(drawnFrom(Object.values(testedKinds), "linkedKeys"))(
  "rows whose key is a link are found again when the row that they are linked to is made anew, with the $name provider",
  async (providerKind) => {
    stage = await Stage.set({ tables }, {}, providerKind);
    const { client, host } = stage;
    const deployment = new Deployment(host);
    const rows = async (microAppID: string) =>
      (await client.microappdata({ microAppID, searchFilter: [{ skip: 0, limit: 100 }] })).microAppRows;
    const isWhole = async (names: Parameters<typeof program>[0], ids: string[]): Promise<void> => {
      const codes = new Map((await rows("regions")).map(({ _id, Code }) => [_id, Code]));
      const prices = await rows("prices");
      expect(prices.map(({ _id }) => _id).toSorted()).toEqual(ids);
      const links = prices.map(({ Region, Price }) => [
        codes.get((Region as { crossAppRowID: string }).crossAppRowID), // a linked field's form
        Price,
      ]);
      expect(links.toSorted()).toEqual([
        ["E", "2"],
        ["N", "1"],
      ]);
      await host.restart();
      expect(await deployment.preview(program(names))).toEqual([]);
    };
    const removeN = async (): Promise<void> => {
      const rowID = (await rows("regions")).find(({ Code }) => Code === "N")?._id ?? "";
      await client.removemicroapprow({ rowID });
      await host.restart();
    };
    const names = { regions: "regions", prices: "prices" };
    await deployment.up(program(names));
    const ids = (await rows("prices")).map(({ _id }) => _id).toSorted();
    await removeN();
    await deployment.refresh();
    await deployment.up(program(names));
    await isWhole(names, ids);
    // And when what is linked gets another name in the same edit.
    await removeN();
    const renamed = { ...names, prices: "tariffs" };
    await deployment.refresh();
    await deployment.up(program(renamed));
    await isWhole(renamed, ids);
  },
);
