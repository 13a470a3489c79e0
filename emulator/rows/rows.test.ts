import { describe, expect, test } from "@jest/globals";
import { signIn, start, type Caller } from "../testing/platform.ts";

type Row = Record<string, unknown>;

async function platform() {
  const { url } = await start();
  return { url, admin: await signIn(url) };
}

const insert = (caller: Caller, rowData: Row, rest: Row = {}) =>
  caller.get("rowID", "insertmicroapprow", { microAppID: "countries", rowData, ...rest }) as Promise<string>;
const row = (caller: Caller, rowID: string) =>
  caller.get("body.currentRow", "microappdataRow", { rowID }) as Promise<Row>;
const rows = (caller: Caller, query: Row = {}, microAppID = "countries") =>
  caller.get("body.microAppRows", "microappdata", { microAppID, ...query }) as Promise<Row[]>;

describe("a row", () => {
  test("keeps labels apart that look like something else", async () => {
    const labels = ["constructor", "toString", "'; DROP TABLE rows; --", '"', "a.b", "$where", "Ünï ☃", "2020", "_ID"];
    const fields = Object.fromEntries(labels.map((label, n) => [label, { type: "text" as const, id: `field${n}` }]));
    const { url } = await start({ seed: { tables: { odd: { fields } } } });
    const admin = await signIn(url);
    const rowData = Object.fromEntries(labels.map((label) => [label, `value of ${label}`]));
    const rowID = await insert(admin, { ...rowData, hasOwnProperty: "x" }, { microAppID: "odd" });
    const hostile = `{"microAppID":"odd","rowData":{"__proto__":{"polluted":true},"2020":"yes"}}`;
    await admin.call("insertmicroapprow", JSON.parse(hostile));
    expect(await row(admin, rowID)).toMatchObject(rowData);
    expect(await row(admin, rowID)).not.toHaveProperty("hasOwnProperty", "x");
    for (const label of labels.filter((label) => !label.includes(".") && !label.startsWith("$"))) {
      expect(await rows(admin, { optViewFilters: [{ [label]: `value of ${label}` }] }, "odd")).toHaveLength(1);
    }
    for (const [n, label] of labels.entries()) {
      const search = { optSearchFilters: [{ fieldID: `field${n}`, value: `value of ${label}` }] };
      expect([label, await rows(admin, search, "odd")]).toEqual([label, [expect.anything()]]);
    }
  });

  test.each([
    [{ Code: 1 }, "Code must be a text"],
    [{ Population: "1" }, "Population must be a number"],
    [{ Founded: "soon" }, "Founded must be a date in ISO 8601 form"],
    [{ Tags: true }, "Tags must be a list of texts"],
    [{ Capital: "Prague" }, "Capital must be a location with an address"],
    [{ Currency: "CZK" }, "Currency must be an object with crossAppRowID"],
    [{ Currency: { crossAppRowID: "none" } }, "Currency: no row none in table currencies"],
  ])("with %j is refused", async (rowData, message) => {
    const { admin } = await platform();
    const reply = await admin.call("insertmicroapprow", { microAppID: "countries", rowData });
    expect([reply.status, reply.body]).toEqual([400, { status: "failure", message }]);
    const batch = await admin.call("insertmicroapprows", { microAppID: "countries", rows: [{ Code: "CZ" }, rowData] });
    expect([batch.status, batch.at("message")]).toEqual([400, `rows.1: ${message}`]);
    expect(await rows(admin)).toEqual([]);
  });

  test("that is hidden is not found by others, nor linked to", async () => {
    const { url, admin } = await platform();
    const ada = await signIn(url, "ada@example.com", "ada");
    const secret = await insert(admin, { Code: "SECRET" }, { microAppID: "currencies", viewers: [admin.userID] });
    expect([await rows(admin, {}, "currencies"), await rows(ada, {}, "currencies")]).toMatchObject([[{}], []]);
    expect((await ada.call("microappdataRow", { rowID: secret })).status).toBe(403);
    expect((await ada.call("updatemicroapprow", { rowID: secret, rowData: {} })).status).toBe(403);
    const rowData = { Currency: { crossAppRowID: secret } };
    const linked = await ada.call("insertmicroapprow", { microAppID: "countries", rowData });
    expect(linked.at("message")).toBe(`Currency: no row ${secret} in table currencies`);
  });
});

describe("many rows", () => {
  test("are none where there is no match, and unknown where there is no table", async () => {
    const { admin } = await platform();
    expect((await admin.call("microappdata", { microAppID: "countries" })).body).toEqual({
      status: "success",
      body: { microAppRows: [] },
    });
    expect((await admin.call("microappdata", { microAppID: "none" })).status).toBe(404);
  });

  test("are found by what their texts share with a search, the nearest first", async () => {
    const { admin } = await platform();
    const names = [
      "river in the mountains",
      "Mountain",
      "a town by the sea",
      "",
      "mountains and mountains of mountains",
    ];
    const batch = names.map((Name) => ({ Name }));
    await admin.get("inserted", "insertmicroapprows", { microAppID: "countries", rows: batch });
    const nearest = async (query: Row) =>
      (await rows(admin, { optIsVectorSearch: true, ...query })).map((row) => row["Name"]);
    const all = await nearest({ optVectorSearchString: "Mountains!" });
    expect(all).toEqual([names[4], names[0]]);
    expect(await nearest({ optVectorSearchString: "Mountains!" })).toEqual(all);
    expect(await nearest({ optVectorSearchString: "mountains", optVectorSearchNumCandidates: 1 })).toEqual([names[4]]);
    expect(await nearest({ optVectorSearchString: "mountains", optLimit: "2" })).toEqual([names[4], names[0]]);
    expect(await nearest({ optVectorSearchString: "sea", optViewFilters: [{ Name: { $regex: "^M" } }] })).toEqual([]);
    expect(await nearest({})).toHaveLength(5); // nothing to search for
  });
});
