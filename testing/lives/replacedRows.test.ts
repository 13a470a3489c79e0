import { expect, test } from "@jest/globals";
import { throughBothKinds } from "../harness/bothKinds.ts";
import type { Properties } from "../harness/providerHost.ts";

const tables = { regions: { name: "Regions", fields: { Code: { type: "text", sort: 1 }, Name: "text" } } };
const table = { table: "regions", key: "Code" };
const region = (Code: string) => ({ Code, Name: `region ${Code}` });
const [north, east, south] = [region("N"), region("E"), region("S")];

throughBothKinds({ tables }, (scene) => {
  const live = async (): Promise<Record<string, string>> => {
    const { microAppRows } = await scene.client.microappdata({ microAppID: "regions" });
    return Object.fromEntries(microAppRows.map((row) => [String(row["Name"]), row._id]));
  };
  const make = (rows: unknown[]) => scene.create("SeedRows", { ...table, rows });
  type Made = Awaited<ReturnType<typeof make>>;
  /** How an engine comes to a replacement: what it asks before, and whether it read the state. */
  const orders = {
    /** `replaceOnChanges`: the diff came first. */
    "after a diff": async ({ id, inputs, outputs }: Made, news: Properties) => {
      const checked = await scene.host.check("SeedRows", news, inputs);
      await scene.host.diff("SeedRows", id, outputs, checked.inputs);
    },
    /** Another provider, or `deletedWith`: the inputs alone are compared. */
    "without a diff": async ({ inputs }: Made, news: Properties) => {
      await scene.host.check("SeedRows", news, inputs);
    },
    /** `--replace` and a taint, where the engine reads first. */
    "after a read": async ({ id, outputs }: Made) => {
      await scene.host.read("SeedRows", id, outputs);
    },
  };

  test.each(Object.keys(orders) as (keyof typeof orders)[])(
    "a seed that an engine replaces %s takes over what the old one had, and the preview says it",
    async (order) => {
      const made = await make([north, east, south]);
      const before = await live();
      const news = { ...table, rows: [{ ...north, Name: "another" }, east, region("W")] };
      scene.host.told.length = 0;
      await orders[order](made, news);
      const { inputs, problems } = await scene.host.check("SeedRows", news);
      expect(problems).toEqual([]);
      const change = '1 to add if they do not exist yet ("W"), 1 to change ("N"), 1 to remove ("S"), 1 unchanged';
      expect([...new Set(scene.host.told)]).toEqual([`info: rows: ${change}`]);
      const successor = await scene.host.create("SeedRows", inputs);
      await scene.host.delete("SeedRows", made.id, made.outputs);
      const after = await live();
      expect(Object.keys(after).toSorted()).toEqual(["another", "region E", "region W"]);
      expect([after["another"], after["region E"]]).toEqual([before["region N"], before["region E"]]);
      expect(successor.outputs).toMatchObject({ rowCount: 3 });
      const checked = await scene.host.check("SeedRows", news, inputs);
      expect(await scene.host.diff("SeedRows", successor.id, successor.outputs, checked.inputs)).toMatchObject({
        changes: false,
      });
    },
  );

  test("where nothing tells what the old one had, the refusal says how to go on", async () => {
    await scene.client.insertmicroapprows({ microAppID: "regions", rows: [north] });
    await expect(make([{ ...north, Name: "another" }])).rejects.toThrow("run the same command with --refresh");
  });
});
