import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Habits } from "../../../provider/habits/habits.ts";
import { Clinic, type Case } from "./testing/clinic.ts";

// Sub-tables on platforms that do not show below which row each of their rows stands.

let clinic: Clinic;
const lands: string[] = [];
beforeAll(async () => {
  clinic = await Clinic.open();
  const insert = async (microAppID: string, Name: string, parent?: string): Promise<string> =>
    (
      await clinic.client.insertmicroapprow({
        microAppID,
        rowData: { Name },
        ...(parent ? { embeddingRowID: parent } : {}),
      })
    ).rowID;
  for (const name of ["AT", "CZ", "SK"]) lands.push(await insert("lands", name));
  for (const [name, at] of [
    ["Graz", 0],
    ["Brno", 0],
    ["Brno", 1],
  ] as const)
    await insert("towns", name, lands[at]);
  clinic.emulator.saveSnapshot("filled");
});
afterAll(() => clinic.close());

const file = `seeds:
  towns:
    table: towns
    key: [Name, In]
    parent: { seed: lands, by: In }
    rows: [{ Name: Graz, In: AT }]
  lands: { table: lands, key: Name, rows: [{ Name: AT }] }
`;

/** Findings on the tables, on a platform with these habits, which a profile may know. */
async function look(habits: Partial<Habits>, isKnown: boolean, more: Case = { file }): Promise<Map<string, string>> {
  clinic.emulator.setProfile({ version: 1, habits });
  await writeFile(join(clinic.folder, "profile.yaml"), JSON.stringify({ version: 1, habits }));
  const config = isKnown ? { profile: "profile.yaml" } : {};
  const { findings } = await clinic.look({ ...more, config });
  return new Map(
    findings.map((finding) => [finding.id, finding.is === "skipped" ? "skipped" : `${finding.is}: ${finding.seen}`]),
  );
}

test.each([
  [{ parentShown: "no" }, "shows without their parents", "parentShown"],
  [{ subRows: "byParent" }, "shows by their parents alone", "subRows"],
  [{ parentShown: "no", subRows: "byParent" }, "shows by their parents alone", "subRows"],
] as const)("%j: its rows are found below those of the table of their parents", async (habits, how, habit) => {
  const seen = `It has 3 rows below those of table lands, which the platform ${how}.`;
  for (const isKnown of [false, true]) {
    const findings = await look(habits, isKnown);
    const finding = isKnown ? `well: ${seen} The profile has it (${habit}).` : `noted: ${seen}`;
    expect(findings.get("table:towns")).toBe(finding);
    expect(findings.get("labels:towns")).toBe("well: Rows have Name.");
    expect(findings.get("key:towns")).toMatch(/^(well|noted): Name tells all rows apart/);
  }
});

test("where parents are shown, no call is added, and the parent is no label of the key", async () => {
  clinic.emulator.setProfile();
  const since = clinic.emulator.lastCall();
  const findings = await look({}, false);
  const reads = clinic.emulator.calls({ since }).filter(({ endpoint }) => endpoint === "microappdata");
  expect(reads).toHaveLength(15);
  expect(findings.get("table:towns")).toBe("well: It has 3 rows.");
  expect(findings.get("key:towns")).toMatch(/^(well|noted): Name tells all rows apart/);
  const made = async (isKnown: boolean): Promise<number> => {
    const since = clinic.emulator.lastCall();
    await look({}, isKnown);
    return clinic.emulator.calls({ since }).length;
  };
  expect(await made(false)).toBe(await made(true));
});

test("where nothing finds them, that is to be mended", async () => {
  const habits = { parentShown: "no", viewFilters: "refused" } as const;
  expect((await look(habits, true)).get("table:towns")).toMatch(/^wrong: The platform neither names the parents/);
});

test("keys of rows whose parents nobody declares are not called the same", async () => {
  const alone = { tables: ["towns:Name"] };
  for (const isKnown of [false, true]) {
    const { parentShown, shown } = {
      parentShown: (await look({ parentShown: "no" }, isKnown, alone)).get("key:towns"),
      shown: (await look({}, isKnown, alone)).get("key:towns"),
    };
    expect(parentShown).toBe("noted: A key is in several rows of table towns, which name no parent rows.");
    expect(shown).toMatch(/^(well|noted): Name tells all rows apart/);
  }
});

test("a table without rows is not called empty where not all rows above were looked below", async () => {
  for (let at = 0; at < 60; at++)
    await clinic.client.insertmicroapprow({ microAppID: "lands", rowData: { Name: `L${at}` } });
  const { microAppRows } = await clinic.client.microappdata({ microAppID: "towns" });
  for (const { _id: rowID } of microAppRows) await clinic.client.removemicroapprow({ rowID });
  expect((await look({ subRows: "byParent" }, true)).get("table:towns")).toBe(
    "noted: It shows no rows, and not all rows of table lands were looked below, which may have some.",
  );
  clinic.emulator.loadSnapshot("filled");
});
