import { dirname } from "node:path";
import { z } from "zod";
import { checkContent, parseLayers, textOf } from "../../../provider/layers/checkedFile.ts";
import { makePlainGrammar } from "../../../provider/layers/grammar.ts";

const words = ["keep", "drop", "name", "address", "digits", "date"] as const;
const label = z.string().min(1);
const constant = z
  .strictObject({ constant: z.union([z.string().min(1), z.number(), z.boolean()]) })
  .describe("The same value in every row.");
const dateBy = z
  .strictObject({ date: z.strictObject({ by: label }) })
  .describe("Moves dates by the span of the person that this label names or links to.");
const keepDespite = z
  .strictObject({ keep: z.strictObject({ mayHold: z.array(label).min(1) }) })
  .describe("Keeps the values, although values of these masked labels stand in them.");

const rule = z
  .union([z.enum(words), constant, dateBy, keepDespite], {
    error: `must be ${words.join(", ")}, {constant: <value>}, {date: {by: <label>}} or {keep: {mayHold: [<label>]}}`,
  })
  .describe("Rule for the values of a label.");
const kindRule = z.union([z.enum(["keep", "drop", "name", "address", "digits"]), constant], {
  error: "must be keep, drop, name, address, digits or {constant: <value>}",
});

/** Kinds of values that are recognized in labels without a rule. */
export const maskedKinds = ["address", "telephone", "name", "token"] as const;
export type MaskedKind = (typeof maskedKinds)[number];

const described = z.strictObject({
  name: z.enum(["keep", "name"]).describe("Names as they are, or invented ones."),
  description: z.enum(["keep", "drop"]).default("drop"),
});

/** The content of a masks file. */
export const masksFile = z.strictObject({
  labels: z.record(label, rule).default({}).describe("Rules for the labels of every table."),
  tables: z
    .record(label, z.record(label, rule))
    .default({})
    .describe("Rules for the labels of one table, by its ID. They count before those under labels."),
  kinds: z
    .strictObject({
      address: kindRule.optional(),
      telephone: kindRule.optional(),
      name: kindRule.optional(),
      token: kindRule.optional(),
    })
    .default({})
    .describe("Rules for values of a kind, in labels that have no rule of their own."),
  others: z
    .enum(["stop", "keep"])
    .default("stop")
    .describe(
      "Labels without a rule: stop ends the dump, keep takes those that look like none of the kinds as they are.",
    ),
  people: z.enum(["address", "keep"]).default("address").describe("Addresses of the members of teams."),
  organizations: described.optional().describe("Names and descriptions of organizations."),
  teams: described.optional().describe("Names and descriptions of teams."),
});

/** A rule with what it needs. */
export type MaskRule =
  | { kind: "keep"; mayHold: readonly string[] }
  | { kind: "drop" | "name" | "address" | "digits" }
  | { kind: "constant"; value: string | number | boolean }
  | { kind: "date"; by: string | undefined };

/** A rule of the file and where it stands, for people. */
export interface PlacedRule {
  rule: MaskRule;
  place: string;
}

/** A masks file that was read. */
export interface MasksFile {
  labels: ReadonlyMap<string, PlacedRule>;
  tables: ReadonlyMap<string, ReadonlyMap<string, PlacedRule>>;
  kinds: Readonly<Partial<Record<MaskedKind, PlacedRule>>>;
  others: "stop" | "keep";
  people: "address" | "keep";
  organizations: z.output<typeof described> | undefined;
  teams: z.output<typeof described> | undefined;
  /** Place of a table's rules. */
  placeOfTable: (table: string) => string;
}

/** Reads a masks file, with the files that it extends. Throws a FileError that names each mistake with its place. */
export function readMasks(file: string): MasksFile {
  const folder = dirname(file);
  const { content, at } = parseLayers(textOf(file, "masks file", folder), file, folder, makePlainGrammar(masksFile));
  const { labels, tables, kinds, ...rest } = checkContent(masksFile, content, at);
  const placed = (written: z.output<typeof rule>, path: PropertyKey[]): PlacedRule => ({
    rule: toRule(written),
    place: at(path),
  });
  const rulesIn = (rules: Record<string, z.output<typeof rule>>, path: PropertyKey[]): Map<string, PlacedRule> =>
    new Map(Object.entries(rules).map(([name, one]) => [name, placed(one, [...path, name])]));
  return {
    ...rest,
    organizations: rest.organizations,
    teams: rest.teams,
    labels: rulesIn(labels, ["labels"]),
    tables: new Map(Object.entries(tables).map(([table, rules]) => [table, rulesIn(rules, ["tables", table])])),
    kinds: Object.fromEntries(Object.entries(kinds).map(([kind, one]) => [kind, placed(one, ["kinds", kind])])),
    placeOfTable: (table) => at(["tables", table]),
  };
}

function toRule(written: z.output<typeof rule>): MaskRule {
  if (written === "keep") return { kind: "keep", mayHold: [] };
  if (written === "date") return { kind: "date", by: undefined };
  if (typeof written === "string") return { kind: written };
  if ("constant" in written) return { kind: "constant", value: written.constant };
  if ("date" in written) return { kind: "date", by: written.date.by };
  return { kind: "keep", mayHold: written.keep.mayHold };
}

/** JSON Schema of a masks file, for editors. */
export function masksJsonSchema(): object {
  const schema = z.toJSONSchema(masksFile, { io: "input" });
  const below = {
    type: "string",
    description: "A masks file, beside this one, whose rules count where this one has none.",
  };
  return { ...schema, properties: { extends: below, ...schema.properties } };
}
