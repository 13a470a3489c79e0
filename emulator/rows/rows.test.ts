import { describe, expect, test } from "@jest/globals";
import { seed, signIn, start, type Caller } from "../testing/platform.ts";

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
const codes = async (caller: Caller, query: Row = {}) => (await rows(caller, query)).map((row) => row["Code"]);

async function fourCountries(admin: Caller) {
  await admin.get("inserted", "insertmicroapprows", {
    microAppID: "countries",
    rows: [
      { Code: "CZ", Name: "Czechia", Population: 10_900_000, Founded: "1993-01-01", Tags: ["EU", "NATO"] },
      { Code: "AT", Name: "Austria", Population: 9_100_000, Founded: "1955-05-15T00:00:00+02:00", Tags: ["EU"] },
      { Code: "CH", Name: "Switzerland", Population: 8_900_000, Founded: "1291-08-01", Tags: [] },
      { Code: "XX", Name: "Nowhere" },
    ],
  });
}

describe("a row", () => {
  test("is inserted, read, changed and removed", async () => {
    const { admin } = await platform();
    const made = await admin.call("insertmicroapprow", {
      microAppID: "countries",
      rowData: { Code: "CZ", Population: 1, Cod: "lost", _id: "mine", submitted: 5, name: "lost too" },
    });
    const rowID = made.at("rowID") as string;
    expect(made.body).toEqual({ status: "success", rowID, body: { rowID } });
    const read = await row(admin, rowID);
    expect(read).toEqual({
      _id: rowID,
      Code: "CZ",
      Population: 1,
      userID: admin.userID,
      viewers: [],
      teamViewers: [],
      isLocked: false,
      submitted: expect.any(Number),
      deviceID: null,
      appVersion: null,
      hasConflict: false,
      clientCounter: null,
      clientSubmitted: expect.stringMatching(/^\S+ \(\S+\) [+-]\d\d:\d\d$/),
    });
    const changed = await admin.call("updatemicroapprow", { rowID, rowData: { Population: 2, code: "??" } });
    expect(changed.body).toMatchObject({ status: "success" });
    expect(await row(admin, rowID)).toEqual({ ...read, Population: 2 });
    expect((await admin.call("removemicroapprow", { rowID })).body).toMatchObject({ status: "success" });
    expect((await admin.call("microappdataRow", { rowID })).at("body")).toEqual({});
    for (const name of ["updatemicroapprow", "removemicroapprow"] as const) {
      expect((await admin.call(name, { rowID, rowData: {} })).status).toBe(404);
    }
  });

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
    [{ Capital: { address: { addressNumber: 5 } } }, "Capital: addressNumber must be a text"],
    [
      { Capital: { address: { geometry: { type: "Point", coordinates: [14, 91] } } } },
      "Capital: coordinates must be a longitude of -180 to 180 and a latitude of -90 to 90",
    ],
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

  test("takes any value where the platform is not strict", async () => {
    const { url } = await start({ seed: { ...seed, settings: { strict: false } } });
    const admin = await signIn(url);
    const rowData = { Code: 1, Population: "many", Currency: { crossAppRowID: "none" } };
    expect(await row(admin, await insert(admin, rowData))).toMatchObject({ Code: 1, Population: "many" });
    expect(await codes(admin, { optViewFilters: [{ Code: 1 }] })).toEqual([1]);
  });

  test("links to a row of another table and shows it as it is now", async () => {
    const { admin } = await platform();
    const crossAppRowID = await insert(admin, { Code: "CZK", Digits: 2 }, { microAppID: "currencies" });
    const rowID = await insert(admin, {
      Code: "CZ",
      Currency: { crossAppRowID, value: { label: "Code", value: "CZK" } },
    });
    const digits = { label: "Digits", value: 2 };
    const link = { crossAppRowID, value: { label: "Code", value: "CZK" } };
    const read = (await row(admin, rowID))["Currency"] as Row;
    expect(read).toEqual({
      ...link,
      additionalValues: { [String(Object.keys(read["additionalValues"] as Row)[0])]: digits },
    });
    await admin.call("updatemicroapprow", { rowID: crossAppRowID, rowData: { Code: "KČ" } });
    expect((await row(admin, rowID))["Currency"]).toMatchObject({ value: { label: "Code", value: "KČ" } });
    const fieldID = Object.keys((await rows(admin, { platformFormat: true }))[0]?.["fields"] ?? {})[1] as string;
    expect(await codes(admin, { optSearchFilters: [{ fieldID, value: crossAppRowID }] })).toEqual(["CZ"]);
    expect(await codes(admin, { optViewFilters: [{ "Currency.value.value": "KČ" }] })).toEqual(["CZ"]);
    expect(await codes(admin, { optViewFilters: [{ "Currency.value.value": "CZK" }] })).toEqual([]);
    await admin.call("updatemicroapprow", { rowID, rowData: { Currency: null } });
    expect((await row(admin, rowID))["Currency"]).toBeNull();
  });

  test("that is hidden shows neither through links nor through its sub-tables", async () => {
    const { url, admin } = await platform();
    const ada = await signIn(url, "ada@example.com", "ada");
    const secret = await insert(admin, { Code: "SECRET" }, { microAppID: "currencies", viewers: [admin.userID] });
    const link = { crossAppRowID: secret, value: { label: "Code", value: "SECRET" } };
    const linking = await insert(admin, { Code: "CZ", Currency: link });
    const hidden = await insert(admin, { Code: "XX" }, { viewers: [admin.userID] });
    const city = await insert(admin, { Name: "Nowhere" }, { microAppID: "cities", embeddingRowID: hidden });

    const masked = { crossAppRowID: secret, value: { label: "Code", value: null } };
    expect(await row(admin, linking)).toMatchObject({ Currency: link });
    expect(await row(ada, linking)).toMatchObject({ Currency: masked });
    for (const platformFormat of [false, true]) {
      expect(JSON.stringify(await rows(admin, { platformFormat }))).toContain("SECRET");
      expect(JSON.stringify(await rows(ada, { platformFormat }))).not.toContain("SECRET");
    }
    for (const [caller, count] of [
      [admin, 1],
      [ada, 0],
    ] as const) {
      expect(await rows(caller, { optViewFilters: [{ "Currency.value.value": "SECRET" }] })).toHaveLength(count);
      expect(await rows(caller, {}, "cities")).toHaveLength(count);
      expect(await rows(caller, { optViewFilters: [{ embeddingRowID: hidden }] }, "cities")).toHaveLength(count);
      expect((await caller.call("microappdataRow", { rowID: city })).status).toBe(count === 1 ? 200 : 403);
    }
    expect((await ada.call("updatemicroapprow", { rowID: city, rowData: {} })).status).toBe(403);
    const stray = await ada.call("insertmicroapprow", { microAppID: "cities", rowData: {}, embeddingRowID: hidden });
    expect(stray.at("message")).toBe(`embeddingRowID: no row ${hidden} in table countries`);
    const rowData = { Currency: { crossAppRowID: secret } };
    const linked = await ada.call("insertmicroapprow", { microAppID: "countries", rowData });
    expect(linked.at("message")).toBe(`Currency: no row ${secret} in table currencies`);
  });

  test("of a sub-table hangs on its parent and goes with it", async () => {
    const { admin } = await platform();
    const [cz, at] = [await insert(admin, { Code: "CZ" }), await insert(admin, { Code: "AT" })];
    const batch = {
      microAppID: "cities",
      embeddingRowID: cz,
      rows: [{ Name: "Prague" }, { Name: "Brno" }, { Name: "Vienna", embeddingRowID: at }],
    };
    expect(await admin.get("inserted", "insertmicroapprows", batch)).toBe(3);
    const names = async (embeddingRowID: string) =>
      (await rows(admin, { optViewFilters: [{ embeddingRowID }], optViewSort: { sortVal: 1 } }, "cities")).map(
        (city) => city["Name"],
      );
    expect([await names(cz), await names(at)]).toEqual([["Brno", "Prague"], ["Vienna"]]);
    for (const embeddingRowID of [undefined, "none"]) {
      const orphan = await admin.call("insertmicroapprow", { microAppID: "cities", rowData: {}, embeddingRowID });
      expect(orphan.status).toBe(400);
    }
    const stray = { microAppID: "countries", rowData: {}, embeddingRowID: cz };
    expect((await admin.call("insertmicroapprow", stray)).status).toBe(400);
    await admin.call("removemicroapprow", { rowID: cz });
    expect(await rows(admin, {}, "cities")).toHaveLength(1);
  });

  test("is seen by its viewers, its creator and administrators only", async () => {
    const { url, admin } = await platform();
    const [ada, bob] = [await signIn(url, "ada@example.com", "ada"), await signIn(url, "bob@example.com", "bob")];
    const organizationInfo = { _id: "acme", name: "Acme" };
    await admin.call("insertorganization", { organizationInfo });
    await admin.call("insertteam", { teamInfo: { _id: "r", organizationID: "acme", name: "Research" } });
    await admin.call("insertteammembers", { teamIDs: ["r"], userIDs: [bob.userID] });
    await insert(admin, { Code: "open" });
    const forAda = await insert(admin, { Code: "ada" }, { viewers: [ada.userID] });
    await insert(admin, { Code: "team" }, { teamViewers: ["r"] });
    await insert(bob, { Code: "own" }, { viewers: [ada.userID] });
    await insert(admin, { Code: "field", Readers: [bob.userID] });
    expect(await codes(admin)).toEqual(["open", "ada", "team", "own", "field"]);
    expect(await codes(ada)).toEqual(["open", "ada", "own"]);
    expect(await codes(bob)).toEqual(["open", "team", "own", "field"]);
    expect((await bob.call("microappdataRow", { rowID: forAda })).status).toBe(403);
    expect((await bob.call("updatemicroapprow", { rowID: forAda, rowData: {} })).status).toBe(403);
    await admin.call("updatemicroapprow", { rowID: forAda, rowData: { Readers: null } });
    expect((await bob.call("microappdataRow", { rowID: forAda })).status).toBe(200);
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

  test.each<[Row, unknown[]]>([
    [{}, ["CZ", "AT", "CH", "XX"]],
    [{ searchFilter: [{ resourceID: "countries", field: "1", order: 1 }] }, ["AT", "CH", "CZ", "XX"]],
    [{ searchFilter: [{ field: "1", order: -1, skip: "1", limit: 2 }] }, ["CZ", "CH"]],
    [{ searchFilter: [{ field: 2, order: -1, skip: 0, limit: 10 }] }, ["CZ", "AT", "CH", "XX"]],
    [{ searchFilter: [{ resourceID: "cities", skip: 3, limit: 1 }] }, ["CZ", "AT", "CH", "XX"]],
    [{ searchFilter: null, optViewFilters: null, optLimit: 3 }, ["CZ", "AT", "CH"]],
    [{ optViewSort: { sortVal: 1 }, optLimit: 2 }, ["AT", "CH"]],
    [{ optViewSort: [["sortVal2", -1]], optLimit: 2 }, ["CZ", "AT"]],
    [{ optViewSort: [{ Name: "desc" }] }, ["CH", "XX", "CZ", "AT"]],
    [{ optViewSort: { sortVal3: 1 } }, ["XX", "CH", "AT", "CZ"]],
    [{ optViewFilters: [{ sortVal2: { $gte: 9_000_000 } }] }, ["CZ", "AT"]],
    [{ optViewFilters: [{ sortVal2: { $gte: 8_900_000, $lt: 10_000_000 } }] }, ["AT", "CH"]],
    [{ optViewFilters: [{ sortVal2: { $gte: "0" } }] }, []],
    [{ optViewFilters: [{ sortVal3: { $gte: "1955-01-01T00:00:00Z" } }] }, ["CZ", "AT"]],
    [{ optViewFilters: [{ sortVal3: { $lt: 0 } }] }, ["AT", "CH"]],
    [{ optViewFilters: [{ sortVal4: true }] }, ["CZ", "AT"]],
    [{ optViewFilters: [{ sortVal4: false }] }, ["CH", "XX"]],
    [{ optViewFilters: [{ sortVal: "CZ" }, { sortVal2: { $gt: 0 } }] }, ["CZ"]],
    [{ optViewFilters: [{ $or: [{ sortVal: "CZ" }, { Name: "Austria" }] }] }, ["CZ", "AT"]],
    [{ optViewFilters: [{ $or: [{ sortVal: "CZ" }, { Name: { $regex: "^Aus" } }] }] }, ["CZ", "AT"]],
    [{ optViewFilters: [{ Name: { $regex: "^N", $options: "i" } }], optViewSort: { sortVal: 1 } }, ["XX"]],
    [{ optViewFilters: [{ Tags: "NATO" }] }, ["CZ"]],
    [{ optViewFilters: [{ Tags: { $size: 1 } }] }, ["AT"]],
    [{ optViewFilters: [{ Population: { $mod: [1_000_000, 0] } }] }, []],
    [{ optViewFilters: [{ Population: { $mod: [100_000, 0] } }] }, ["CZ", "AT", "CH"]],
    [{ optViewFilters: [{ Tags: { $exists: false } }] }, ["XX"]],
    [{ optViewFilters: [{ Code: { $in: ["AT", "CH", 5] } }] }, ["AT", "CH"]],
    [{ optViewFilters: [{ Code: { $nin: ["AT", "CH"] } }] }, ["CZ", "XX"]],
    [{ optViewFilters: [{ Population: { $ne: 9_100_000 } }] }, ["CZ", "CH", "XX"]],
    [{ optViewFilters: [{ Population: null }] }, ["XX"]],
    [{ optViewFilters: [{ $nor: [{ Code: "CZ" }, { Code: "AT" }] }] }, ["CH", "XX"]],
    [{ optViewFilters: [{ Code: { $not: { $in: ["CZ"] } } }], searchFilter: [{ skip: 1, limit: 1 }] }, ["CH"]],
    [{ optViewFilters: [{ isLocked: false, hasConflict: false }], optLimit: "1" }, ["CZ"]],
    [{ optViewFilters: [{}] }, ["CZ", "AT", "CH", "XX"]],
    [{ optSearchFilters: [{ resourceID: "countries", fieldID: "name", value: "Austria" }] }, ["AT"]],
    [{ optSearchFilters: [{ fieldID: "tags", value: "EU" }] }, ["CZ", "AT"]],
    [{ optSearchFilters: [{ fieldID: "population", value: null }] }, ["XX"]],
    [{ optSearchFilters: [{ fieldID: "none", value: 1 }] }, []],
    [{ optSearchFilters: [{ fieldID: "none", value: 1 }], optViewSort: { sortVal: 1 } }, []],
    [{ optSearchFilters: [{ resourceID: "cities", fieldID: "none", value: 1 }], optLimit: 1 }, ["CZ"]],
    [{ optViewSort: { Tags: 1 }, optLimit: 1 }, ["CH"]],
    [{ optViewSort: { none: 1 }, optLimit: 1 }, ["CZ"]],
    [{ optViewFilters: [{ "constructor.name": "Object" }] }, []],
    [{ optViewFilters: [{ constructor: { $exists: true } }] }, []],
    [{ optViewFilters: [JSON.parse('{"__proto__":{"$exists":true}}')] }, []],
    [{ optViewFilters: [JSON.parse('{"__proto__":"Object"}')] }, []],
    [{ optViewFilters: [JSON.parse('{"$or":[{"__proto__.name":{"$exists":true}}]}')] }, []],
    [{ optViewFilters: [{ "Code.length": 2 }] }, []],
    [{ optViewFilters: [{ "Tags.length": { $gte: 0 } }] }, []],
    [{ optViewFilters: [{ $or: [{ "Tags.constructor.name": "Array" }, { "Name.at.name": "at" }] }] }, []],
    [{ optViewFilters: [{ Code: { $not: { $in: ["CZ"] } }, toString: null }], optLimit: 1 }, ["AT"]],
    [{ resultContentType: "json", optIsStatic: true, optExcludeMicroApps: [], optLimit: 1 }, ["CZ"]],
  ])("of %j", async (query, expected) => {
    const { admin } = await platform();
    await fourCountries(admin);
    expect(await codes(admin, query)).toEqual(expected);
  });

  test.each([
    [{ optViewFilters: [{ $where: "while (true) {}" }] }, /operator \$where is not supported/],
    [{ optViewFilters: [{ $or: [{ Code: { $not: { $function: {} } } }] }] }, /operator \$function/],
    [{ optViewFilters: [{ Name: { $regex: "(" } }] }, /Invalid regular expression/],
    [{ optViewFilters: [{ Name: { $regex: "^(\\w+)+\\1$\\d" } }] }, /the pattern \^\(\\w\+\)\+\\1\$\\d takes too long/],
    [{ optViewFilters: [{ $and: {} }] }, /optViewFilters/],
    [{ optViewFilters: { Code: "CZ" } }, /optViewFilters/],
    [{ searchFilter: [{ skip: "many" }] }, /searchFilter/],
  ])("are refused for %j", async (query, message) => {
    const { admin } = await platform();
    await insert(admin, { Code: "CZ", Name: `${"a".repeat(60)}!` });
    const reply = await admin.call("microappdata", { microAppID: "countries", ...query });
    expect([reply.status, reply.at("status")]).toEqual([400, "failure"]);
    expect(reply.at("message")).toMatch(message);
  });

  test("are counted by a default limit, and paged until there are none", async () => {
    const { url } = await start({ seed: { ...seed, settings: { defaultLimit: 7 } } });
    const admin = await signIn(url);
    const batch = Array.from({ length: 25 }, (_, n) => ({ Code: `C${n}`, Population: n % 3 }));
    await admin.get("inserted", "insertmicroapprows", { microAppID: "countries", rows: batch });
    expect(await rows(admin)).toHaveLength(7);
    const paged: unknown[] = [];
    for (let skip = 0; ; skip += 7) {
      const page = await codes(admin, { searchFilter: [{ field: "2", order: -1, skip, limit: 7 }] });
      if (page.length === 0) break;
      paged.push(...page);
    }
    expect(new Set(paged).size).toBe(25);
    const keyed: unknown[] = [];
    for (let last = ""; ;) {
      const page = await rows(admin, {
        optViewFilters: [{ _id: { $gt: last } }],
        optViewSort: { _id: 1 },
        optLimit: 4,
      });
      if (page.length === 0) break;
      keyed.push(...page.map((row) => row["Code"]));
      last = String(page.at(-1)?._id);
    }
    expect(keyed).toEqual(batch.map(({ Code }) => Code));
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
    expect(all).toEqual([names[4], names[0], names[1]]);
    expect(await nearest({ optVectorSearchString: "Mountains!" })).toEqual(all);
    expect(await nearest({ optVectorSearchString: "mountains", optVectorSearchNumCandidates: 1 })).toEqual([names[4]]);
    expect(await nearest({ optVectorSearchString: "mountains", optLimit: "2" })).toEqual([names[4], names[0]]);
    expect(await nearest({ optVectorSearchString: "sea", optViewFilters: [{ Name: { $regex: "^M" } }] })).toEqual([]);
    expect(await nearest({})).toHaveLength(5); // nothing to search for
  });
});
