import { expect } from "@jest/globals";
import { newRow, prove, rowOf, rowsOf, type TestPlatform } from "../testing/proofs.ts";

const microAppID = "countries";
const refused = { code: "invalidRequest" };
const missing = { code: "notFound" };

const insertRows = async ({ admin }: TestPlatform, rows: object[], rest: object = {}) =>
  (await admin.call("insertmicroapprows", { microAppID, rows: rows.map((row) => ({ ...row })), ...rest })).inserted;
const seen = async (guest: TestPlatform["ada"]) =>
  (await guest.call("microappdata", { microAppID })).microAppRows.length;

/** A team with Bob in it. */
async function team({ admin }: TestPlatform): Promise<string> {
  await admin.call("insertorganization", { organizationInfo: { _id: "acme", name: "Acme" } });
  const { teamID } = await admin.call("insertteam", { teamInfo: { organizationID: "acme", name: "Crew" } });
  await admin.call("insertteammembers", { teamIDs: [teamID], userIDs: ["bob"] });
  return teamID;
}

prove("writing", {
  insertmicroapprow: async (stage) => {
    const rowID = await newRow(stage, { Code: "CZ" });
    expect(await rowsOf(stage)).toMatchObject([{ _id: rowID, Code: "CZ" }]);
  },
  "insertmicroapprow microAppID": async ({ admin, ...stage }) => {
    await newRow({ admin }, {});
    expect(await admin.refused("insertmicroapprow", { rowData: {} })).toMatchObject(refused);
    expect(await admin.refused("insertmicroapprow", { microAppID: "none", rowData: {} })).toMatchObject(missing);
    expect(await rowsOf({ ...stage, admin })).toHaveLength(1);
  },
  "insertmicroapprow rowData": async (stage) => {
    await newRow(stage, {});
    for (const request of [{}, { rowData: [] }, { rowData: "CZ" }, { rowData: { Code: 1 } }]) {
      expect(await stage.admin.refused("insertmicroapprow", { microAppID, ...request })).toMatchObject(refused);
    }
  },
  "insertmicroapprow embeddingRowID": async (stage) => {
    const embeddingRowID = await newRow(stage, { Code: "CZ" });
    const city = await newRow(stage, { Name: "Brno" }, { microAppID: "cities", embeddingRowID });
    expect(await rowOf(stage, city)).toMatchObject({ embeddingRowID });
    const orphan = { microAppID: "cities", rowData: {}, embeddingRowID: "none" };
    expect(await stage.admin.refused("insertmicroapprow", orphan)).toMatchObject(refused);
  },
  "insertmicroapprow viewers": async (stage) => {
    await newRow(stage, {}, { viewers: ["ada"] });
    expect([await seen(stage.admin), await seen(stage.ada), await seen(stage.bob)]).toEqual([1, 1, 0]);
  },
  "insertmicroapprow teamViewers": async (stage) => {
    await newRow(stage, {}, { teamViewers: [await team(stage)] });
    expect([await seen(stage.admin), await seen(stage.ada), await seen(stage.bob)]).toEqual([1, 0, 1]);
  },
  "insertmicroapprow userID": async (stage) => {
    expect(await rowOf(stage, await newRow(stage, {}, { userID: "ada" }))).toMatchObject({ userID: "ada" });
    const nobody = { microAppID, rowData: {}, userID: "none" };
    expect(await stage.admin.refused("insertmicroapprow", nobody)).toMatchObject(missing);
  },
  "insertmicroapprow ignoreActionRules": async (stage) => {
    expect(await rowOf(stage, await newRow(stage, { Code: "CZ" }, { ignoreActionRules: true }))).toMatchObject({
      Code: "CZ",
    });
  },
  "insertmicroapprow: unknown labels": async (stage) => {
    const row = await rowOf(stage, await newRow(stage, { Code: "CZ", Cdoe: "AT" }));
    expect(row).toMatchObject({ Code: "CZ" });
    expect(row).not.toHaveProperty("Cdoe");
  },
  "insertmicroapprow: system fields": async (stage) => {
    const rowID = await newRow(stage, { _id: "mine", submitted: 1, parentResourceID: "cities" });
    expect(rowID).not.toBe("mine");
    const row = await rowOf(stage, rowID);
    expect(row?.submitted).not.toBe(1);
    expect(row).not.toHaveProperty("parentResourceID");
  },
  insertmicroapprows: async (stage) => {
    expect(await insertRows(stage, [{ Code: "CZ" }, { Code: "AT" }])).toBe(2);
    expect(await rowsOf(stage)).toMatchObject([{ Code: "CZ" }, { Code: "AT" }]);
  },
  "insertmicroapprows microAppID": async (stage) => {
    await insertRows(stage, [{}]);
    expect(await stage.admin.refused("insertmicroapprows", { rows: [{}] })).toMatchObject(refused);
    expect(await stage.admin.refused("insertmicroapprows", { microAppID: "none", rows: [{}] })).toMatchObject(missing);
  },
  "insertmicroapprows rows": async (stage) => {
    const rows = (length: number) => Array.from({ length }, () => ({ Code: "X" }));
    for (const length of [0, 10_001]) {
      const request = { microAppID, rows: rows(length) };
      expect(await stage.admin.refused("insertmicroapprows", request)).toMatchObject(refused);
    }
    expect(await insertRows(stage, rows(10_000))).toBe(10_000);
    expect(await rowsOf(stage, { optLimit: 20_000 })).toHaveLength(10_000);
  },
  "insertmicroapprows embeddingRowID": async (stage) => {
    const [one, two] = [await newRow(stage, {}), await newRow(stage, {})];
    const cities = [{ Name: "Brno" }, { Name: "Graz", embeddingRowID: two }];
    await insertRows(stage, cities, { microAppID: "cities", embeddingRowID: one });
    const parents = (await rowsOf(stage, {}, "cities")).map((row) => row.embeddingRowID);
    expect(parents).toEqual([one, two]);
  },
  "insertmicroapprows viewers": async (stage) => {
    await insertRows(stage, [{}, {}], { viewers: ["ada"] });
    expect([await seen(stage.ada), await seen(stage.bob)]).toEqual([2, 0]);
  },
  "insertmicroapprows teamViewers": async (stage) => {
    await insertRows(stage, [{}, {}], { teamViewers: [await team(stage)] });
    expect([await seen(stage.ada), await seen(stage.bob)]).toEqual([0, 2]);
  },
  "insertmicroapprows userID": async (stage) => {
    await insertRows(stage, [{}, {}], { userID: "ada" });
    expect(await rowsOf(stage)).toMatchObject([{ userID: "ada" }, { userID: "ada" }]);
  },
  "insertmicroapprows ignoreActionRules": async (stage) => {
    expect(await insertRows(stage, [{}], { ignoreActionRules: true })).toBe(1);
  },
  "insertmicroapprows: whole": async (stage) => {
    const request = { microAppID, rows: [{ Code: "CZ" }, { Code: 5 }] };
    expect(await stage.admin.refused("insertmicroapprows", request)).toMatchObject(refused);
    expect(await rowsOf(stage)).toEqual([]);
  },
  updatemicroapprow: async (stage) => {
    const rowID = await newRow(stage, { Code: "CZ", Name: "Czechia", Population: 11 });
    await stage.admin.call("updatemicroapprow", { rowID, rowData: { Population: 12 } });
    expect(await rowOf(stage, rowID)).toMatchObject({ Code: "CZ", Name: "Czechia", Population: 12 });
  },
  "updatemicroapprow rowID": async (stage) => {
    const rowID = await newRow(stage, {});
    await stage.admin.call("updatemicroapprow", { rowID, rowData: {} });
    expect(await stage.admin.refused("updatemicroapprow", { rowData: {} })).toMatchObject(refused);
    expect(await stage.admin.refused("updatemicroapprow", { rowID: "none", rowData: {} })).toMatchObject(missing);
  },
  "updatemicroapprow rowData": async (stage) => {
    const rowID = await newRow(stage, { Code: "CZ" });
    await stage.admin.call("updatemicroapprow", { rowID, rowData: { code: "AT" } });
    expect(await rowOf(stage, rowID)).toMatchObject({ Code: "CZ" });
    expect(await stage.admin.refused("updatemicroapprow", { rowID })).toMatchObject(refused);
  },
  "updatemicroapprow microAppID": async (stage) => {
    const rowID = await newRow(stage, {});
    await stage.admin.call("updatemicroapprow", { rowID, rowData: { Code: "CZ" }, microAppID });
    const elsewhere = { rowID, rowData: { Code: "AT" }, microAppID: "cities" };
    expect(await stage.admin.refused("updatemicroapprow", elsewhere)).toMatchObject(refused);
    expect(await rowOf(stage, rowID)).toMatchObject({ Code: "CZ" });
  },
  "updatemicroapprow embeddingRowID": async (stage) => {
    const [one, two] = [await newRow(stage, {}), await newRow(stage, {})];
    const rowID = await newRow(stage, {}, { microAppID: "cities", embeddingRowID: one });
    await stage.admin.call("updatemicroapprow", { rowID, rowData: {}, embeddingRowID: two });
    expect(await rowOf(stage, rowID)).toMatchObject({ embeddingRowID: two });
  },
  "updatemicroapprow userID": async (stage) => {
    const rowID = await newRow(stage, {});
    await stage.admin.call("updatemicroapprow", { rowID, rowData: {}, userID: "ada" });
    expect(await rowOf(stage, rowID)).toMatchObject({ userID: "ada" });
  },
  "updatemicroapprow ignoreActionRules": async (stage) => {
    const rowID = await newRow(stage, {});
    await stage.admin.call("updatemicroapprow", { rowID, rowData: { Code: "CZ" }, ignoreActionRules: true });
    expect(await rowOf(stage, rowID)).toMatchObject({ Code: "CZ" });
  },
  "updatemicroapprow: viewers": async (stage) => {
    const rowID = await newRow(stage, {});
    const teamID = await team(stage);
    await stage.admin.call("updatemicroapprow", { rowID, rowData: { Readers: ["ada"] } });
    expect([await seen(stage.ada), await seen(stage.bob)]).toEqual([1, 0]);
    await stage.admin.call("updatemicroapprow", { rowID, rowData: { Readers: [], ReadingTeams: [teamID] } });
    expect([await seen(stage.ada), await seen(stage.bob)]).toEqual([0, 1]);
  },
  "updatemicroapprow: null": async (stage) => {
    const crossAppRowID = await newRow(stage, { Code: "CZK" }, { microAppID: "currencies" });
    const rowID = await newRow(stage, { Code: "CZ", Currency: { crossAppRowID } });
    await stage.admin.call("updatemicroapprow", { rowID, rowData: { Currency: null } });
    expect(await rowOf(stage, rowID)).toMatchObject({ Code: "CZ", Currency: null });
  },
  removemicroapprow: async (stage) => {
    const rowID = await newRow(stage, {});
    await stage.admin.call("removemicroapprow", { rowID });
    expect(await rowOf(stage, rowID)).toBeUndefined();
    expect(await rowsOf(stage)).toEqual([]);
  },
  "removemicroapprow rowID": async (stage) => {
    await stage.admin.call("removemicroapprow", { rowID: await newRow(stage, {}) });
    expect(await stage.admin.refused("removemicroapprow", {})).toMatchObject(refused);
    expect(await stage.admin.refused("removemicroapprow", { rowID: "none" })).toMatchObject(missing);
  },
});
