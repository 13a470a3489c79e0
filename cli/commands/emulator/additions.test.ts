import { expect, test } from "@jest/globals";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { signIn, start } from "../../../emulator/testing/platform.ts";
import { temporaryFolder } from "../../../testing/harness/folders.ts";
import { seedFiles } from "./createEmulator.ts";

const first = `
tables:
  countries: { fields: { Code: { type: text, sort: 1 } }, rows: [{ values: { Code: PT } }] }
`;
const later = `
tables:
  currencies: { fields: { Code: text }, rows: [{ values: { Code: EUR } }] }
  countries:
    fields: { Code: { type: text, sort: 1 }, People: { type: number, sort: 2 }, Currency: { type: linked, table: currencies } }
    rows: [{ values: { Code: JP } }]
`;

test("tables and fields that a seed gets later are added at the start and named; nothing is taken away", async () => {
  const folder = temporaryFolder();
  const [data, seed] = [join(folder, "platform.db"), join(folder, "seed.yaml")];
  const started = async (text: string) => {
    writeFileSync(seed, text);
    return start({ data, seed }, seedFiles);
  };
  const rowsOf = async (url: string, microAppID: string, query: object = {}) =>
    (await signIn(url)).get("body.microAppRows", "microappdata", { microAppID, ...query });

  const one = await started(first);
  expect([one.added, one.differs]).toEqual([[], []]);
  await one.close();
  const again = await started(first);
  expect([again.added, again.differs]).toEqual([[], []]);
  await again.close();

  writeFileSync(seed, later);
  const two = await started(later);
  expect(two.differs).toEqual([
    "the seed differs from the one that the data file was made with: --reseed takes it anew",
  ]);
  expect(two.added).toEqual(
    ["table currencies", "field People of table countries", "field Currency of table countries"].map(
      (what) => `the emulator's data file got ${what}, which its seed has now`,
    ),
  );
  expect(await rowsOf(two.url, "currencies")).toMatchObject([{ Code: "EUR" }]);
  const admin = await signIn(two.url);
  await admin.get("rowID", "insertmicroapprow", { microAppID: "countries", rowData: { Code: "KE", People: 3 } });
  // The rows of a table that was there are its own.
  expect(await rowsOf(two.url, "countries", { optViewSort: { sortVal2: -1 } })).toMatchObject([
    { Code: "KE" },
    { Code: "PT" },
  ]);
  await two.close();

  const three = await started(
    later.replace("  currencies: { fields", "  coins: { fields").replace("currencies }", "coins }"),
  );
  expect(three.added).toEqual(["the emulator's data file got table coins, which its seed has now"]);
  expect(await rowsOf(three.url, "currencies")).toMatchObject([{ Code: "EUR" }]);
  await three.close();

  const four = await started("tables: [");
  expect(four.added).toEqual([expect.stringMatching(/^the seed was not compared with the data file: .*seed\.yaml:1/)]);
  expect(await rowsOf(four.url, "coins")).toHaveLength(1);
});
