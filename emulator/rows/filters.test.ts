import { afterAll, beforeAll, expect, test } from "@jest/globals";
import fc from "fast-check";
import { Query } from "mingo";
import { createEmulator, type Emulator } from "../emulator.ts";
import { seed, signIn, type Caller } from "../testing/platform.ts";

// Compares the rows a filter finds with those of another implementation of document queries. $mod is left out: there
// empty texts and null count as 0, while databases match numbers alone. PROPERTY_RUNS=10000 tries more filters.

const runs = Number(process.env["PROPERTY_RUNS"] ?? 200);

type Document = Record<string, unknown>;

const location = (formattedAddress: string) => ({
  address: { formattedAddress, country: formattedAddress.slice(0, 2) },
});
const rows = [
  {
    Code: "CZ",
    Name: "Czechia",
    Population: 10,
    Founded: "1993-01-01",
    Tags: ["EU", "NATO"],
    Capital: location("CZ 1"),
  },
  { Code: "AT", Name: "Austria", Population: 9, Founded: "1955-05-15", Tags: ["EU"], Capital: location("AT 2") },
  { Code: "CH", Name: "Switzerland", Population: 9, Tags: [], Capital: null },
  { Code: "", Name: "", Population: 0, Founded: null },
  { Code: "cz", Name: null, Population: -1.5, Tags: ["NATO", "EU"] },
  { Name: "a.b (c) [d]", Population: null },
  { Code: "Ž", Name: "Ž\u{1F600}", Population: 9e15, Tags: ["EU", "EU"] },
  {},
];

let emulator: Emulator;
let admin: Caller;
let documents: Document[];

const read = async (query: object = {}) =>
  (await admin.get("body.microAppRows", "microappdata", { microAppID: "countries", ...query })) as Document[];

beforeAll(async () => {
  emulator = await createEmulator({ seed });
  admin = await signIn(emulator.url);
  await admin.get("inserted", "insertmicroapprows", { microAppID: "countries", rows });
  // Filters see values by label and stored sort values.
  const [readable, raw] = [await read(), await read({ platformFormat: true })];
  documents = readable.map((row, at) => {
    const stored = Object.entries(raw[at] ?? {}).filter(
      ([key]) => key.startsWith("sortVal") || key === "parentResourceID",
    );
    return { ...row, ...Object.fromEntries(stored) };
  });
});
afterAll(() => emulator.close());

const texts = fc.constantFrom("CZ", "AT", "", "cz", "Ž", "Austria", "EU", "NATO", "none");
const numbers = fc.constantFrom(0, 9, 10, -1.5, 9e15, 8.5);
const scalars = fc.oneof(texts, numbers, fc.constantFrom<unknown>(true, false, null));
const keys = fc.constantFrom(
  ...["Code", "Name", "Population", "Tags", "Capital", "sortVal", "sortVal2", "sortVal4", "sortVal9", "isLocked"],
  ...["Capital.address.country", "none", "none.deep", "_id", "viewers", "constructor", "Code.length"],
);

const conditions = fc.letrec<{ condition: unknown }>((tie) => ({
  condition: fc.oneof(
    { maxDepth: 2 },
    scalars,
    fc.record({ $eq: scalars }),
    fc.record({ $ne: scalars }),
    ...["$gt", "$gte", "$lt", "$lte"].map((operator) =>
      fc.oneof(texts, numbers).map((value) => ({ [operator]: value })),
    ),
    fc.tuple(numbers, numbers).map(([from, to]) => ({ $gte: from, $lt: to })),
    fc.array(scalars, { maxLength: 3 }).map((list) => ({ $in: list })),
    fc.array(scalars, { maxLength: 3 }).map((list) => ({ $nin: list })),
    fc.boolean().map((exists) => ({ $exists: exists })),
    fc.constantFrom("^C", "z", "U", "\\(c\\)", "^$").map((pattern) => ({ $regex: pattern })),
    fc.constantFrom("^c", "AUS").map((pattern) => ({ $regex: pattern, $options: "i" })),
    fc.nat(2).map((size) => ({ $size: size })),
    fc.constantFrom("EU", "NATO").map((tag) => ({ $elemMatch: { $eq: tag } })),
    tie("condition").map((inner) => ({ $not: typeof inner === "object" && inner !== null ? inner : { $eq: inner } })),
  ),
})).condition;

// The other one wants a list for $all, where databases take one value for a list of it: lists alone are asked for it.
const lists = fc
  .tuple(fc.constantFrom("Tags", "viewers"), fc.array(texts, { minLength: 1, maxLength: 2 }))
  .map(([key, list]) => ({ [key]: { $all: list } }));

const { filter } = fc.letrec<{ filter: Document }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 2 },
    { weight: 9, arbitrary: fc.dictionary(keys, conditions, { minKeys: 1, maxKeys: 2 }) },
    lists,
    ...["$and", "$or", "$nor"].map((operator) =>
      fc.array(tie("filter"), { minLength: 1, maxLength: 3 }).map((parts) => ({ [operator]: parts })),
    ),
  ),
}));

test("random filters find what another implementation finds", async () => {
  let some = 0;
  await fc.assert(
    fc.asyncProperty(filter, async (filter) => {
      const matches = new Query(filter);
      const expected = documents.filter((document) => matches.test(document)).map(({ _id }) => _id);
      const found = (await read({ optViewFilters: [filter] })).map(({ _id }) => _id);
      if (found.length > 0 && found.length < rows.length) some++;
      expect(found).toEqual(expected);
    }),
    { numRuns: runs },
  );
  expect(some).toBeGreaterThan(runs / 10); // else the filters say little
});
