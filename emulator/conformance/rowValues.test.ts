import { expect } from "@jest/globals";
import { newRow, part, prove, rowOf, rowsOf, type TestPlatform } from "../testing/proofs.ts";

const made = async (stage: TestPlatform, rowData: object = { Code: "CZ" }) =>
  rowOf(stage, await newRow(stage, rowData));

async function linked(stage: TestPlatform): Promise<{ target: string; value: unknown }> {
  const target = await newRow(stage, { Code: "CZK", Digits: 2 }, { microAppID: "currencies" });
  return { target, value: part(await made(stage, { Currency: { crossAppRowID: target } }), "Currency") };
}

const point = { type: "Point", coordinates: [14.42, 50.09] };
const address = {
  country: "CZ",
  formattedAddress: "Staroměstské náměstí 1, Praha",
  geometry: point,
  addressLastLine: "110 00 Praha",
  addressNumber: "1",
  areaName1: "Praha",
  areaName2: "",
  areaName3: "Praha 1",
  areaName4: "",
  mainAddressLine: "Staroměstské náměstí 1",
  placeName: "",
  postCode: "110 00",
  postCodeExt: "",
  streetName: "Staroměstské náměstí",
  unitType: "",
  unitValue: "",
};

prove("rowValues", {
  "microappdataRow: labels": async (stage) => {
    const row = await made(stage, { Code: "CZ", code: "lost", CODE: "lost" });
    expect(row).toHaveProperty("Code", "CZ");
    for (const label of ["code", "CODE"]) expect(row).not.toHaveProperty(label);
  },
  "microappdataRow: _id": async (stage) => {
    const rowID = await newRow(stage, {});
    expect(await rowOf(stage, rowID)).toHaveProperty("_id", rowID);
  },
  "microappdataRow: userID": async (stage) => expect(await made(stage)).toHaveProperty("userID", "admin"),
  "microappdataRow: viewers": async (stage) => {
    expect(await made(stage)).toHaveProperty("viewers", []);
    const rowID = await newRow(stage, {}, { viewers: ["ada"] });
    expect(await rowOf(stage, rowID)).toHaveProperty("viewers", ["ada"]);
  },
  "microappdataRow: isLocked": async (stage) => {
    const rowID = await newRow(stage, {});
    expect(await rowOf(stage, rowID)).toHaveProperty("isLocked", false);
    stage.emulator.markRow(rowID, { isLocked: true });
    expect(await rowOf(stage, rowID)).toHaveProperty("isLocked", true);
  },
  "microappdataRow: submitted": async (stage) => {
    const before = Date.now();
    const submitted = Number(part(await made(stage), "submitted"));
    expect(submitted).toBeGreaterThanOrEqual(before);
    expect(submitted).toBeLessThanOrEqual(Date.now());
  },
  "microappdataRow: deviceID": async (stage) => expect(await made(stage)).toHaveProperty("deviceID", null),
  "microappdataRow: appVersion": async (stage) => expect(await made(stage)).toHaveProperty("appVersion", null),
  "microappdataRow: hasConflict": async (stage) => {
    const rowID = await newRow(stage, {});
    expect(await rowOf(stage, rowID)).toHaveProperty("hasConflict", false);
    stage.emulator.markRow(rowID, { hasConflict: true });
    expect(await rowOf(stage, rowID)).toHaveProperty("hasConflict", true);
  },
  "microappdataRow: clientCounter": async (stage) => expect(await made(stage)).toHaveProperty("clientCounter", null),
  "microappdataRow: clientSubmitted": async (stage) => {
    expect(part(await made(stage), "clientSubmitted")).toMatch(/^\S+ \(\S+\) [+-]\d\d:\d\d$/);
  },
  "microappdata: sortVal": async (stage) => {
    await made(stage, { Code: "CZ", Population: 11 });
    expect(await rowsOf(stage, { platformFormat: true })).toMatchObject([{ sortVal: "CZ", sortVal2: 11 }]);
    for (const query of [{ sortVal: "CZ" }, { sortVal2: 11 }]) {
      expect(await rowsOf(stage, { optViewFilters: [query] })).toHaveLength(1);
    }
  },
  "microappdataRow: crossAppRowID": async (stage) => {
    const { target, value } = await linked(stage);
    expect(value).toHaveProperty("crossAppRowID", target);
  },
  "microappdataRow: value": async (stage) => {
    expect((await linked(stage)).value).toHaveProperty("value", { label: "Code", value: "CZK" });
  },
  "microappdataRow: additionalValues": async (stage) => {
    const { value } = await linked(stage);
    const values = part(value, "additionalValues") as Record<string, unknown>;
    expect(Object.values(values)).toEqual([{ label: "Digits", value: 2 }]);
    expect(Object.keys(values)).not.toContain("Digits");
  },
  "microappdataRow: location": async (stage) => {
    expect(await made(stage, { Capital: { address } })).toHaveProperty("Capital", { address });
    const notOne = { microAppID: "countries", rowData: { Capital: "Prague" } };
    expect(await stage.admin.refused("insertmicroapprow", notOne)).toMatchObject({ code: "invalidRequest" });
  },
  "microappdataRow: geometry": async (stage) => {
    expect(await made(stage, { Capital: { address } })).toHaveProperty("Capital.address.geometry", point);
    const wrong = { address: { geometry: { type: "Point", coordinates: ["14", "50"] } } };
    const notOne = { microAppID: "countries", rowData: { Capital: wrong } };
    expect(await stage.admin.refused("insertmicroapprow", notOne)).toMatchObject({ code: "invalidRequest" });
  },
});
