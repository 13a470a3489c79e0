import { expect, test } from "@jest/globals";
import { seed, signIn, start, type Caller } from "../testing/platform.ts";

type Row = Record<string, unknown>;

const insert = (caller: Caller, rowData: Row, microAppID = "countries") =>
  caller.get("rowID", "insertmicroapprow", { microAppID, rowData }) as Promise<string>;
const codes = async (caller: Caller, query: Row = {}) => {
  const rows = await caller.get("body.microAppRows", "microappdata", { microAppID: "countries", ...query });
  return (rows as Row[]).map((row) => row["Code"]);
};

test("a value is in a range of its own type alone, by its label as by its sort value", async () => {
  const { url } = await start({ seed: { ...seed, settings: { strict: false } } });
  const admin = await signIn(url);
  for (const Code of ["B", 5, "C", 7, null]) await insert(admin, { Code });
  for (const key of ["Code", "sortVal"]) {
    expect(await codes(admin, { optViewFilters: [{ [key]: { $gt: 5 } }] })).toEqual([7]);
    expect(await codes(admin, { optViewFilters: [{ [key]: { $lte: 7 } }] })).toEqual([5, 7]);
    expect(await codes(admin, { optViewFilters: [{ [key]: { $gte: "A" } }] })).toEqual(["B", "C"]);
  }
});

test("a text is compared by code points, by its label, its sort value and in the order of an answer", async () => {
  const admin = await signIn((await start()).url);
  const texts = ["\u{1F600}", "\uFF5E", "Z"]; // UTF-16 has the first before the second
  for (const text of texts) await insert(admin, { Code: text, Name: text });
  const sorted = ["Z", "\uFF5E", "\u{1F600}"];
  expect(await codes(admin, { optViewSort: { sortVal: 1 } })).toEqual(sorted);
  expect(await codes(admin, { optViewSort: { Name: 1 } })).toEqual(sorted);
  for (const key of ["Code", "sortVal", "Name"]) {
    const above = await codes(admin, { optViewFilters: [{ [key]: { $gt: "\uFF5E" } }] });
    const decided = await codes(admin, { optViewFilters: [{ [key]: { $not: { $lte: "\uFF5E" } } }] }); // by documents
    expect([above, decided]).toEqual([["\u{1F600}"], ["\u{1F600}"]]);
  }
});

test("a value is one of those that $all wants, or a list that has them all", async () => {
  const admin = await signIn((await start()).url);
  await insert(admin, { Code: "CZ", Name: "Czechia", Tags: ["EU", "NATO"] });
  await insert(admin, { Code: "AT", Name: "Austria", Tags: ["EU"] });
  await insert(admin, { Code: "CH", Tags: [] });
  const found = (filter: Row) => codes(admin, { optViewFilters: [filter] });
  expect(await found({ Tags: { $all: ["NATO", "EU"] } })).toEqual(["CZ"]);
  expect(await found({ Tags: { $all: ["EU"] } })).toEqual(["CZ", "AT"]);
  expect(await found({ Name: { $all: ["Austria"] } })).toEqual(["AT"]);
  expect(await found({ Name: { $all: ["Austria", "Czechia"] } })).toEqual([]);
  expect(await found({ Tags: { $all: [["EU", "NATO"]] } })).toEqual(["CZ"]);
  expect(await found({ Tags: { $all: [] } })).toEqual([]);
  expect(await found({ Tags: { $all: [{ $elemMatch: { $eq: "NATO" } }] } })).toEqual(["CZ"]);
  const refused = await admin.call("microappdata", {
    microAppID: "countries",
    optViewFilters: [{ Tags: { $all: "EU" } }],
  });
  expect([refused.status, refused.at("message")]).toEqual([400, "optViewFilters: $all needs a list"]);
});

test("a link sorts by what it links to, as that is now", async () => {
  const { url } = await start({
    seed: {
      ...seed,
      tables: {
        currencies: seed.tables.currencies,
        countries: {
          name: "Countries",
          fields: {
            Code: "text",
            'Its "own" money': { type: "linked", table: "currencies", field: "Code", sort: 1 },
          },
        },
      },
    },
  });
  const admin = await signIn(url);
  const [czk = "", eur = ""] = await Promise.all(
    ["CZK", "EUR"].map((Code) => insert(admin, { Code, Digits: 2 }, "currencies")),
  );
  const label = 'Its "own" money';
  await insert(admin, { Code: "AT", [label]: { crossAppRowID: eur } });
  await insert(admin, { Code: "CZ", [label]: { crossAppRowID: czk } });
  const order = { optViewSort: { sortVal: 1 } };
  expect(await codes(admin, order)).toEqual(["CZ", "AT"]);
  await admin.call("updatemicroapprow", { rowID: czk, rowData: { Code: "ZCK" } });
  expect(await codes(admin, order)).toEqual(["AT", "CZ"]);
  expect(await codes(admin, { optViewFilters: [{ sortVal: "ZCK" }] })).toEqual(["CZ"]);
  await admin.call("updatemicroapprow", { rowID: czk, rowData: { Code: null } });
  expect(await codes(admin, { optViewFilters: [{ sortVal: null }] })).toEqual(["CZ"]);
});
