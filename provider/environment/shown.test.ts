import { beforeAll, expect, test } from "@jest/globals";
import fc from "fast-check";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isLong } from "../../testing/harness/drawn.ts";
import { temporaryFolder } from "../../testing/harness/folders.ts";
import { declaration, readEnvironment } from "./declaration.ts";
import { origins, toShownTree, yamlOf } from "./shown.ts";

const folder = temporaryFolder();
beforeAll(() => {
  mkdirSync(join(folder, "bases"));
  writeFileSync(join(folder, "bases/rows.csv"), "Code\nA\n");
  writeFileSync(join(folder, "rows.csv"), "Code\nA\n");
});

const write = (name: string, content: unknown): void =>
  writeFileSync(join(folder, name), typeof content === "string" ? content : JSON.stringify(content));

const shown = (name: string, origin = false): string => {
  const { root, declared, problems } = readEnvironment(name, folder);
  if (!root || !declared) throw new Error(problems.map(({ message }) => message).join("\n"));
  return yamlOf(toShownTree(root, declared), origin);
};

const keys = ["a", "b", "c.d", "7"];
const key = fc.constantFrom(...keys);
const text = fc.oneof(fc.constantFrom("null", "7", "x: y", "# no", "- a", "", "a\nb"), fc.string({ maxLength: 8 }));
const name = text.filter((one) => one !== "");
const email = fc.constantFrom("ada@example.com", "bob@example.com");
const member = fc.oneof(fc.constantFrom("admin", "member"), fc.record({ role: fc.constant("member") }));
const teamOf = (at: number) => {
  const own = name.filter(({ length }) => length % keys.length === at); // another one for each key
  const all = { name: own, description: fc.option(text), members: fc.dictionary(email, member) };
  return fc.record(all, { requiredKeys: ["name"] });
};
const teams = fc.record(Object.fromEntries(keys.map((one, at) => [one, teamOf(at)])), { requiredKeys: [] });
const value = fc.oneof(text, fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean());
const row = (Code: string) =>
  fc.dictionary(fc.constantFrom("Name", "x y", "9"), value).map((more) => ({ ...more, Code }));
const rows = fc.constantFrom(["A"], ["A", "B"]).chain((codes) => fc.tuple(...codes.map(row)));
const seed = fc.oneof(
  fc.record({ table: fc.constant("t"), key: fc.constant("Code"), rows }),
  fc.record(
    {
      table: fc.constant("t"),
      key: fc.constantFrom("Code", ["Code"]),
      source: fc.constant("rows.csv"),
      "rows+": rows,
      viewers: fc.uniqueArray(key),
    },
    { requiredKeys: ["table", "key", "source"] },
  ),
);
const organization = (name: string) => fc.record({ name: fc.constant(name), teams }, { requiredKeys: ["name"] });
const file = fc.record({
  organizations: fc.record({ x: organization("X"), y: organization("Y") }),
  seeds: fc.dictionary(key, seed),
});

test("the file that is shown declares the same", () => {
  fc.assert(
    fc.property(file, file, fc.subarray(["x", "y"]), (below, above, taken) => {
      write("bases/base.yaml", below);
      const organizations = { ...above.organizations, ...Object.fromEntries(taken.map((one) => [one, null])) };
      const seeds = Object.fromEntries(Object.entries(above.seeds).filter(([one]) => !(one in below.seeds)));
      write("dev.yaml", { extends: "bases/base.yaml", organizations, seeds });
      const meant = declaration("dev.yaml", folder);
      write("shown.yaml", shown("dev.yaml"));
      expect(declaration("shown.yaml", folder)).toEqual(meant);
      write("shown.yaml", shown("dev.yaml", true));
      expect(declaration("shown.yaml", folder)).toEqual(meant);
    }),
    { numRuns: isLong ? 150 : 50 },
  );
});

test("each value is shown with the place that it comes from", () => {
  write(
    "bases/base.yaml",
    "organizations:\n  acme: { name: Acme, teams: { crew: { name: Crew } } }\nseeds: { s: { table: t, key: [Code], source: rows.csv } }\n",
  );
  write(
    "dev.yaml",
    "extends: bases/base.yaml\norganizations: { acme: { name: Acme (dev) } }\nseeds: { s: { rows+: [{ Code: B }] } }\n",
  );
  expect(shown("dev.yaml", true)).toBe(`organizations:
  acme:
    name: Acme (dev) # dev.yaml:2:32
    teams:
      crew:
        name: Crew # bases/base.yaml:2:46
seeds:
  s:
    table: t # bases/base.yaml:3:22
    key:
      - Code # bases/base.yaml:3:31
    source: bases/rows.csv # bases/base.yaml:3:46
    rows+:
      - Code: B # dev.yaml:3:31
`);
  const { root } = readEnvironment("dev.yaml", folder);
  expect(root && origins(root)).toMatchObject({
    "/organizations/acme/name": "dev.yaml:2:32",
    "/seeds/s/rows+/0/Code": "dev.yaml:3:31",
  });
});
