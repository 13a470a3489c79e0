import { expect, test } from "@jest/globals";
import { rowDigester } from "./digests.ts";
import { Lookup, References, describeUnresolved } from "./references.ts";

function countries(): Lookup {
  const lookup = new Lookup();
  lookup.add("DE", "r1");
  lookup.add(276, "r2");
  lookup.add("XX", "r3");
  lookup.add("XX", "r4");
  lookup.add(null, "r5");
  return lookup;
}

test("keys become linked values, in text or number, and come back as keys", () => {
  const references = new References({ Country: { lookup: countries(), key: "Code" } });
  const sent = references.resolve({ City: "Bonn", Country: "DE" }, 2);
  expect(sent).toEqual({ City: "Bonn", Country: { crossAppRowID: "r1", value: { label: "Code", value: "DE" } } });
  expect(references.resolve({ Country: "276" }, 3)["Country"]).toMatchObject({ crossAppRowID: "r2" });
  expect(references.resolve({ City: "Nowhere", Country: null }, 4)).toEqual({ City: "Nowhere", Country: null });
  expect(references.resolve({ City: "Unsaid" }, 5)).toEqual({ City: "Unsaid" });
  expect(references.unresolved).toEqual([]);

  const live = {
    _id: "x",
    City: "Bonn",
    Country: { crossAppRowID: "r1", value: { label: "Code", value: "DE" }, additionalValues: {} },
  };
  const { content } = rowDigester({ key: ["City"], labels: ["City", "Country"], references: ["Country"] });
  expect(content(references.inSourceTerms(live))).toEqual(content({ City: "Bonn", Country: "DE" }));
  const elsewhere = { City: "Bonn", Country: { crossAppRowID: "gone" } };
  expect(content(references.inSourceTerms(elsewhere))).not.toEqual(content({ City: "Bonn", Country: "DE" }));
});

test("everything that leads nowhere is told at once, by line", () => {
  const references = new References({ Country: { lookup: countries(), key: "Code" } });
  for (let line = 2; line < 10; line++) references.resolve({ Country: "FR" }, line);
  references.resolve({ Country: "XX" }, 10);
  expect(
    describeUnresolved(
      references.unresolved,
      (line) => `cities.csv:${line}`,
      () => false,
    ),
  ).toEqual([
    'cities.csv:2, cities.csv:3, cities.csv:4, cities.csv:5, cities.csv:6 and 3 more lines: Country refers to "FR", but there is no row with that key',
    'cities.csv:10: Country refers to "XX", but there is more than one row with that key',
  ]);
  const secret = describeUnresolved(
    references.unresolved,
    (line) => `cities.csv:${line}`,
    (label) => label === "Country",
  );
  expect(secret[1]).toBe("cities.csv:10: Country refers to a row, but there is more than one row with that key");
});
