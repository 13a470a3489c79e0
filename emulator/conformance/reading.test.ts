import { expect } from "@jest/globals";
import { newRow, part, prove, rowOf, rowsOf, type TestPlatform } from "../testing/proofs.ts";

async function countries({ admin }: TestPlatform) {
  const rows = [
    { Code: "CZ", Name: "a hill", Population: 11, Tags: ["EU"] },
    { Code: "AT", Name: "high hills and mountains", Population: 9, Tags: [] },
    { Code: "CH", Name: "mountains", Population: 9, Tags: ["A", "B"] },
  ];
  await admin.call("insertmicroapprows", { microAppID: "countries", rows });
}

/** Codes of what a read of the three countries answers. */
async function read(stage: TestPlatform, query: object): Promise<unknown[]> {
  if ((await rowsOf(stage)).length === 0) await countries(stage);
  return (await rowsOf(stage, query)).map((row) => row["Code"]);
}

const all = ["CZ", "AT", "CH"];
const sorted = (order: 1 | -1, rest: object = {}) => ({
  searchFilter: [{ resourceID: "countries", field: "1", order, ...rest }],
});
const wrong = (stage: TestPlatform, query: object) =>
  stage.admin.refused("microappdata", { microAppID: "countries", ...query });
const refused = { code: "invalidRequest" };

prove("reading", {
  microappdata: async (stage) => {
    await countries(stage);
    const rows = await rowsOf(stage);
    expect(rows).toMatchObject([{ Code: "CZ", _id: expect.any(String) }, { Code: "AT" }, { Code: "CH" }]);
  },
  "microappdata microAppID": async (stage) => {
    expect(await read(stage, {})).toEqual(all);
    expect(await stage.admin.refused("microappdata", {})).toMatchObject(refused);
    expect(await stage.admin.refused("microappdata", { microAppID: "none" })).toMatchObject({ code: "notFound" });
  },
  "microappdata searchFilter": async (stage) => {
    expect(await read(stage, sorted(1, { skip: 1, limit: 1 }))).toEqual(["CH"]);
    expect(await wrong(stage, { searchFilter: "all" })).toMatchObject(refused);
  },
  "microappdata searchFilter.resourceID": async (stage) => {
    expect(await read(stage, { searchFilter: [{ resourceID: "cities", limit: 1 }] })).toEqual(all);
    expect(await read(stage, { searchFilter: [{ resourceID: "countries", limit: 1 }] })).toEqual(["CZ"]);
  },
  "microappdata searchFilter.field": async (stage) => {
    expect(await read(stage, sorted(1))).toEqual(["AT", "CH", "CZ"]);
    expect(await read(stage, { searchFilter: [{ field: "2", order: -1, limit: 1, skip: 0 }] })).toEqual(["CZ"]);
  },
  "microappdata searchFilter.order": async (stage) => {
    expect(await read(stage, sorted(-1))).toEqual(["CZ", "CH", "AT"]);
    expect(await wrong(stage, { searchFilter: [{ field: "1", order: 2 }] })).toMatchObject(refused);
  },
  "microappdata searchFilter.skip": async (stage) => {
    for (const skip of [2, "2"]) expect(await read(stage, sorted(1, { skip, limit: 9 }))).toEqual(["CZ"]);
    expect(await read(stage, sorted(1, { skip: 2 ** 63, limit: 2 ** 63 }))).toEqual([]);
    expect(await wrong(stage, { searchFilter: [{ skip: "many" }] })).toMatchObject(refused);
  },
  "microappdata searchFilter.limit": async (stage) => {
    expect(await read(stage, sorted(1, { skip: 0, limit: 2 }))).toEqual(["AT", "CH"]);
  },
  "microappdata optSearchFilters": async (stage) => {
    const filter = (fieldID: string, value: unknown) => ({ resourceID: "countries", fieldID, value });
    const { fieldIDs } = await idsOf(stage);
    const [code = "", , population = ""] = fieldIDs;
    expect(await read(stage, { optSearchFilters: [filter(population, 9)] })).toEqual(["AT", "CH"]);
    expect(await read(stage, { optSearchFilters: [filter(population, 9), filter(code, "CH")] })).toEqual(["CH"]);
  },
  "microappdata optSearchFilters.resourceID": async (stage) => {
    const filter = { resourceID: "cities", fieldID: "none", value: 1 };
    expect(await read(stage, { optSearchFilters: [filter] })).toEqual(all);
  },
  "microappdata optSearchFilters.fieldID": async (stage) => {
    const { fieldIDs } = await idsOf(stage);
    expect(await read(stage, { optSearchFilters: [{ fieldID: fieldIDs[0], value: "AT" }] })).toEqual(["AT"]);
    expect(await wrong(stage, { optSearchFilters: [{ value: 1 }] })).toMatchObject(refused);
  },
  "microappdata optSearchFilters.value": async (stage) => {
    const { fieldIDs } = await idsOf(stage);
    const valued = (value: unknown) => ({ optSearchFilters: [{ fieldID: fieldIDs[2], value }] });
    expect([await read(stage, valued(11)), await read(stage, valued("11"))]).toEqual([["CZ"], []]);
  },
  "microappdata optViewFilters": async (stage) => {
    expect(await read(stage, { optViewFilters: [{ sortVal2: 9 }, { sortVal: "CH" }] })).toEqual(["CH"]);
    expect(await wrong(stage, { optViewFilters: { sortVal: "CH" } })).toMatchObject(refused);
  },
  "microappdata optViewFilters: or": async (stage) => {
    const either = { $or: [{ sortVal: "CZ" }, { sortVal: "CH" }] };
    expect(await read(stage, { optViewFilters: [either] })).toEqual(["CZ", "CH"]);
    expect(await read(stage, { optViewFilters: [either, { sortVal2: 9 }] })).toEqual(["CH"]);
  },
  "microappdata optViewFilters: operators": async (stage) => {
    const of = (query: object) => read(stage, { optViewFilters: [query] });
    expect(await of({ sortVal2: { $gte: 11 } })).toEqual(["CZ"]);
    expect(await of({ sortVal2: { $gt: 8, $lte: 9 } })).toEqual(["AT", "CH"]);
    expect(await of({ sortVal: { $in: ["AT", "XX"] } })).toEqual(["AT"]);
    expect(await of({ Tags: { $size: 2 } })).toEqual(["CH"]);
    expect(await wrong(stage, { optViewFilters: [{ $where: "true" }] })).toMatchObject(refused);
  },
  "microappdata optViewFilters: embeddingRowID": async (stage) => {
    const { admin } = stage;
    const [one, two] = [await newRow(stage, { Code: "CZ" }), await newRow(stage, { Code: "AT" })];
    await newRow(stage, { Name: "Brno" }, { microAppID: "cities", embeddingRowID: one });
    await newRow(stage, { Name: "Graz" }, { microAppID: "cities", embeddingRowID: two });
    const cities = await rowsOf({ admin }, { optViewFilters: [{ embeddingRowID: two }] }, "cities");
    expect(cities).toMatchObject([{ Name: "Graz", embeddingRowID: two }]);
  },
  "microappdata optViewFilters: boolean": async (stage) => {
    expect(await read(stage, { optViewFilters: [{ sortVal4: true }] })).toEqual(["CZ", "CH"]);
    expect(await read(stage, { optViewFilters: [{ sortVal4: false }] })).toEqual(["AT"]);
  },
  "microappdata optViewSort": async (stage) => {
    expect(await read(stage, { optViewSort: { sortVal: -1 } })).toEqual(["CZ", "CH", "AT"]);
    expect(await read(stage, { optViewSort: { sortVal2: 1, sortVal: -1 } })).toEqual(["CH", "AT", "CZ"]);
    expect(await read(stage, { optViewSort: [["sortVal", 1]] })).toEqual(["AT", "CH", "CZ"]);
  },
  "microappdata optLimit": async (stage) => {
    expect(await read(stage, { optLimit: 2 })).toEqual(["CZ", "AT"]);
    expect(await wrong(stage, { optLimit: "few" })).toMatchObject(refused);
  },
  "microappdata optIsVectorSearch": async (stage) => {
    const query = { optVectorSearchString: "mountains" };
    expect(await read(stage, { ...query, optIsVectorSearch: true })).toEqual(["CH", "AT"]);
    expect(await read(stage, { ...query, optIsVectorSearch: false })).toEqual(all);
  },
  "microappdata optVectorSearchString": async (stage) => {
    expect(await read(stage, { optIsVectorSearch: true, optVectorSearchString: "hill" })).toContain("CZ");
    expect(await wrong(stage, { optVectorSearchString: 5 })).toMatchObject(refused);
  },
  "microappdata optVectorSearchNumCandidates": async (stage) => {
    const query = { optIsVectorSearch: true, optVectorSearchString: "mountains", optVectorSearchNumCandidates: 1 };
    expect(await read(stage, query)).toEqual(["CH"]);
  },
  "microappdata platformFormat": async (stage) => {
    await countries(stage);
    const [raw] = await rowsOf(stage, { platformFormat: true, optLimit: 1 });
    expect(raw).toMatchObject({ parentResourceID: "countries", sortVal: "CZ" });
    expect(raw).not.toHaveProperty("Code");
    expect(await rowsOf(stage, { platformFormat: false })).toEqual(await rowsOf(stage));
  },
  "microappdata resultContentType": async (stage) => {
    expect(await read(stage, { resultContentType: "json" })).toEqual(all);
  },
  "microappdata optIsStatic": async (stage) => {
    expect(await read(stage, { optIsStatic: true })).toEqual(all);
  },
  "microappdata optExcludeMicroApps": async (stage) => {
    expect(await read(stage, { optExcludeMicroApps: ["cities"] })).toEqual(all);
  },
  "microappdata: paging": async (stage) => {
    const seen: unknown[] = [];
    for (let skip = 0; skip < 4; skip++) seen.push(...(await read(stage, sorted(1, { skip, limit: 1 }))));
    expect(seen).toEqual(["AT", "CH", "CZ"]);
  },
  "microappdata: default limit": async (stage) => {
    await countries(stage);
    stage.settings.defaultLimit = 2;
    expect(await read(stage, {})).toEqual(["CZ", "AT"]);
  },
  "microappdata: every row": async (stage) => {
    await countries(stage);
    stage.settings.defaultLimit = 1;
    expect(await read(stage, { searchFilter: [{ skip: 0, limit: 100_000 }] })).toEqual(all);
  },
  "microappdata: no match": async (stage) => {
    expect(await read(stage, { optViewFilters: [{ sortVal: "XX" }] })).toEqual([]);
  },
  microappdataRow: async (stage) => {
    const rowID = await newRow(stage, { Code: "CZ" });
    expect(await rowOf(stage, rowID)).toMatchObject({ _id: rowID, Code: "CZ" });
  },
  "microappdataRow rowID": async (stage) => {
    expect(await rowOf(stage, "none")).toBeUndefined();
    expect(await stage.admin.refused("microappdataRow", {})).toMatchObject(refused);
  },
  "microappdataRow: linked": async (stage) => {
    const crossAppRowID = await newRow(stage, { Code: "CZK", Digits: 2 }, { microAppID: "currencies" });
    const row = await rowOf(stage, await newRow(stage, { Currency: { crossAppRowID } }));
    expect(part(row, "Currency")).toMatchObject({
      crossAppRowID,
      value: { label: "Code", value: "CZK" },
      additionalValues: {},
    });
  },
});

/** IDs of the fields of the first country, in the order of its labels. */
async function idsOf(stage: TestPlatform): Promise<{ fieldIDs: string[] }> {
  await countries(stage);
  const [raw] = await rowsOf(stage, { platformFormat: true });
  const byID = Object.entries(part(raw, "fields") as Record<string, unknown>);
  const idOf = (value: unknown) => byID.find(([, found]) => found === value)?.[0] ?? "";
  return { fieldIDs: [idOf("CZ"), idOf("a hill"), idOf(11)] };
}
