import { expect, test } from "@jest/globals";
import { signIn, start, type Caller } from "../testing/platform.ts";

type Row = Record<string, unknown>;

const insert = (caller: Caller, rowData: Row, microAppID = "countries") =>
  caller.get("rowID", "insertmicroapprow", { microAppID, rowData }) as Promise<string>;
const rows = (caller: Caller, query: Row, microAppID = "countries") =>
  caller.get("body.microAppRows", "microappdata", { microAppID, ...query }) as Promise<Row[]>;

const many = <Item>(count: number, item: Item) => Array.from({ length: count }, () => item);
test.each<[Row, string]>([
  [{ optViewFilters: many(999, { Code: "CZ" }) }, "optViewFilters: 999 conditions are more than the 400"],
  [
    { optViewFilters: [{ $or: many(300, { Code: { $gt: "", $lt: "x" } }) }] },
    "optViewFilters: 600 conditions are more than the 400",
  ],
  [{ optSearchFilters: many(1000, { fieldID: "code", value: "CZ" }) }, "optSearchFilters: 1000 filters are more than"],
  [{ optViewSort: many(2000, { sortVal: 1 }) }, "optViewSort: 2000 sort entries are more than the 100"],
  [{ searchFilter: many(101, { field: "1" }) }, "searchFilter: 101 sort entries are more than the 100"],
])("what a read asks for has a bound that is named: %#", async (query, message) => {
  const admin = await signIn((await start()).url);
  const reply = await admin.call("microappdata", { microAppID: "countries", ...query });
  expect([reply.status, reply.at("message")]).toEqual([400, expect.stringContaining(message)]);
});

test("a read at the bound is answered", async () => {
  const admin = await signIn((await start()).url);
  await insert(admin, { Code: "CZ" });
  const query = {
    optViewFilters: [...many(100, { Code: "CZ" }), { $or: many(100, { Code: { $gt: "", $lt: "x" } }) }],
    optSearchFilters: many(400, { fieldID: "code", value: "CZ" }),
    optViewSort: many(100, { sortVal: 1 }),
  };
  expect(await rows(admin, query)).toMatchObject([{ Code: "CZ" }]);
});

test("rows are sorted by a linked field, by its stored value or its label", async () => {
  const fields = { Code: { type: "text", sort: 1 }, Name: "text" } as const;
  const link = { type: "linked", table: "targets", field: "Name" } as const;
  const { url } = await start({
    seed: {
      tables: {
        targets: { fields },
        sources: { fields: { N: "number", Sorted: { ...link, sort: 2 }, Plain: link } },
      },
    },
  });
  const admin = await signIn(url);
  for (const [N, Name] of ["b", "c", "a"].entries()) {
    const crossAppRowID = await insert(admin, { Name }, "targets");
    const linked = { crossAppRowID };
    await insert(admin, { N, Sorted: linked, Plain: linked }, "sources");
  }
  for (const key of ["sortVal2", "Sorted", "Plain"]) {
    for (const [way, expected] of [
      [1, [2, 0, 1]],
      [-1, [1, 0, 2]],
    ] as const) {
      const found = await rows(admin, { optViewSort: { [key]: way } }, "sources");
      expect([key, way, found.map((row) => row["N"])]).toEqual([key, way, expected]);
    }
  }
});
