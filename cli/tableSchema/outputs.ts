import { existsSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { isObject } from "../../platform/contract/wire.ts";
import { formatCount, quote, some } from "../../platform/messages/text.ts";
import type { Seed } from "../../platform/seed/schema.ts";
import { find, toPlainValue, type Value } from "../../provider/layers/document.ts";
import { readSeed } from "../commands/emulator/createEmulator.ts";
import type { FieldModel, Kind, TableModel } from "./inference.ts";

/** The package's schema of Environment files, from the folder of a project. */
export const packageSchema = "node_modules/pulumi-microapps/sdk/environment/environment.schema.json";

/** The package's schema of Environment files, from where a file lies: in the nearest folder that has the package. */
export function packageSchemaFrom(folder: string): string {
  const above = (from: string): string | undefined => {
    if (existsSync(join(from, packageSchema))) return from;
    return dirname(from) === from ? undefined : above(dirname(from));
  };
  return join(relative(folder, above(folder) ?? folder), packageSchema).replaceAll("\\", "/");
}

/** The line by which an editor finds the schema of the YAML below it. */
export const modeline = (file: string): string => `# yaml-language-server: $schema=${file}\n`;

/** The name by which files about a table begin. */
export const fileNameOf = (table: string): string => table.replaceAll(/[^\w.-]/g, "_");

/** Values that the configuration or the program gives stand in for any cell. */
const configured = { type: "object", required: ["config"], properties: { config: { type: "string" } } };

/** JSON Schema of a row, as `toRowSchema` has it for items. */
export interface RowSchema {
  type: string;
  properties: Readonly<Record<string, object>>;
  required?: readonly string[];
  additionalProperties?: boolean;
}

/**
 * Schema of an Environment file that knows the rows of its seeds: the package's own, and a schema of rows for each seed.
 * @param base where the package's schema lies, relative to this one
 * @param seeds by logical name
 */
export function toEnvironmentSchema(base: string, seeds: Readonly<Record<string, RowSchema>>): object {
  const named = Object.entries(seeds).map(([name, { type, properties, required }]) => {
    const cells = Object.entries(properties).map(([label, cell]) => [label, orConfigured(cell)]);
    const row = { type, properties: Object.fromEntries(cells) as object, additionalProperties: false };
    const rows = { type: "array", items: { ...row, ...(required ? { required } : {}) } };
    return [name, { properties: { rows, "rows+": rows, "rows~": rows } }];
  });
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Environment of this project, made by microapps environment schema",
    allOf: [{ $ref: base }, { properties: { seeds: { properties: Object.fromEntries(named) as object } } }],
  };
}

const orConfigured = (cell: object): object =>
  "anyOf" in cell && Array.isArray(cell.anyOf)
    ? { ...cell, anyOf: [...(cell.anyOf as object[]), configured] }
    : { anyOf: [cell, configured] };

/** A kind of values in the words of people, of Frictionless Table Schema and of TypeScript, and its JSON Schema. */
interface Forms {
  words: string;
  table: string;
  type: string;
  schema?: (field: FieldModel) => object;
}

const orNull = (...types: string[]): { type: string[] } => ({ type: [...types, "null"] });

const forms: Readonly<Record<Kind, Forms>> = {
  text: {
    ...{ words: "text", table: "string", type: "string" },
    // Another text is right as well; the known ones are offered.
    schema: ({ values }) =>
      values ? { anyOf: [{ enum: values }, { type: "string" }, { type: "null" }] } : orNull("string"),
  },
  number: {
    ...{ words: "a number", table: "number", type: "number" },
    schema: ({ isWhole }) => orNull(isWhole ? "integer" : "number"),
  },
  date: {
    ...{ words: "a date", table: "datetime", type: "string" },
    schema: ({ isWhole }) => ({ ...orNull("string"), format: isWhole ? "date" : "date-time" }),
  },
  checkbox: {
    ...{ words: "a list of texts", table: "array", type: "string[]" },
    schema: () => ({ ...orNull("array"), items: { type: "string" } }),
  },
  boolean: {
    ...{ words: "true or false", table: "boolean", type: "boolean" },
    schema: () => orNull("boolean"),
  },
  location: {
    ...{ words: "a location", table: "object", type: "Record<string, unknown>" },
    schema: () => orNull("object"),
  },
  linked: {
    ...{ words: "a link", table: "string", type: "string | number" },
    schema: ({ link }) => ({
      ...orNull("string", "number"),
      description: `Key of the row that is linked to${link ? `: its ${link.key}` : ""}.`,
    }),
  },
  json: { words: "JSON", table: "any", type: "unknown" },
  any: { words: "of several kinds", table: "any", type: "unknown" },
};

const tableType = ({ kind, isWhole }: FieldModel): string => {
  if (kind === "number" && isWhole) return "integer";
  return kind === "date" && isWhole ? "date" : forms[kind].table;
};

const isRequired = ({ filled, label }: FieldModel, { rows, key }: TableModel): boolean =>
  key.includes(label) || (rows > 0 && filled === rows);

/** Frictionless Table Schema of a table. Numbers may be negative or long, so no limits are guessed. */
export function toTableSchema(model: TableModel): object {
  const { key, fields } = model;
  const links = fields.flatMap(({ label, link }) =>
    link?.table === undefined ? [] : [{ fields: [label], reference: { resource: link.table, fields: [link.key] } }],
  );
  return {
    fields: fields.map((field) => {
      const constraints = {
        ...(isRequired(field, model) ? { required: true } : {}),
        ...(key.length === 1 && key[0] === field.label ? { unique: true } : {}),
      };
      return {
        ...{ name: field.label, type: tableType(field) },
        ...(Object.keys(constraints).length > 0 ? { constraints } : {}),
      };
    }),
    ...(key.length > 0 ? { primaryKey: key } : {}),
    ...(links.length > 0 ? { foreignKeys: links } : {}),
    missingValues: [""],
  };
}

/** JSON Schema of a list of rows, as YAML and JSON files have them: an editor completes labels and frequent values by it. */
export function toRowSchema(model: TableModel): { items: RowSchema } & Record<string, unknown> {
  const { table, key, fields } = model;
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: `Rows of table ${table}`,
    type: "array",
    items: {
      type: "object",
      properties: Object.fromEntries(fields.map((field) => [field.label, forms[field.kind].schema?.(field) ?? {}])),
      ...(key.length > 0 ? { required: key } : {}),
      additionalProperties: false,
    },
  };
}

const isIdentifier = (label: string): boolean => /^[A-Za-z_$][\w$]*$/.test(label);

/** `customer-orders` → `CustomerOrdersRow`. */
export const nameType = (table: string): string => {
  const words = table.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  const name = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
  return `${/^[A-Za-z]/.test(name) ? name : `Table${name}`}Row`;
};

/** TypeScript type of a row. A label that not every row has may be left out, or be null. */
export function toTypeScript(model: TableModel, name = nameType(model.table)): string {
  const lines = model.fields.map((field) => {
    const { label, kind, link } = field;
    const { type } = forms[kind];
    const key = isIdentifier(label) ? label : JSON.stringify(label);
    const comment =
      kind === "linked"
        ? [`  /** Key of the linked row${link ? `: its ${link.key.replaceAll("*/", "* /")}` : ""}. */`]
        : [];
    const optional = isRequired(field, model)
      ? `${key}: ${type}`
      : `${key}?: ${type === "unknown" ? type : `${type} | null`}`;
    return [...comment, `  ${optional};`].join("\n");
  });
  return `/** A row of table ${model.table.replaceAll("*/", "* /")}, by label. */\nexport interface ${name} {\n${lines.join("\n")}\n}\n`;
}

/** Describes a table label by label, with how sure each kind is: one line each, and one for each kind of exception. */
export function summarize(model: TableModel): string {
  const { table, rows, key, fields } = model;
  const width = Math.max(0, ...fields.map(({ label }) => label.length));
  const known = key.length === 0 ? "no label tells rows apart: name some by --key" : `natural key ${key.join(" and ")}`;
  return [
    `table ${table}: ${formatCount(rows, "row")}, ${formatCount(fields.length, "label")}, ${known}`,
    ...fields.flatMap((field) => describe(field, model, width)),
  ].join("\n");
}

function describe(field: FieldModel, { rows }: TableModel, width: number): string[] {
  const { label, kind, sure, filled, unique, exceptions, values, link } = field;
  const parts = [
    sure === "none" ? "no row has a value" : forms[kind].words,
    ...(sure === "declared"
      ? ["declared under platform"]
      : sure === "none"
        ? []
        : [`in ${filled === rows ? "every row" : `${filled} of ${formatCount(rows, "row")}`}`]),
    ...(unique ? ["each value once"] : []),
    ...(values ? [`one of ${some(values.map(quote), 12)}`] : []),
    ...(link ? [`by ${quote(link.key)}${link.table === undefined ? "" : ` of table ${link.table}`}`] : []),
  ];
  return [
    `  ${label.padEnd(width)}  ${parts.join(", ")}`,
    ...exceptions.map(
      ({ kind: other, count }) => `  ${"".padEnd(width)}    ${count} of ${filled}: ${forms[other].words}`,
    ),
  ];
}

/** Kinds of the fields that rows have; files and sub-tables have none. */
const kindsOfFields: Readonly<Record<string, Kind>> = {
  ...{ text: "text", number: "number", date: "date", location: "location", linked: "linked" },
  ...{ checkbox: "checkbox", viewers: "checkbox", teamViewers: "checkbox" },
};

/** The tables of a platform seed, or of the platform of an environment file. Throws with file and line. */
export const readPlatform = (file: string, directory: string): Pick<Seed, "tables"> => readSeed(file, directory);

/**
 * The model of a table that a platform seed describes; undefined where it has none.
 * @param root the environment file that it stands in, whose seeds name keys
 */
export function findDeclaredModel(
  platform: Pick<Seed, "tables">,
  root: Value,
  table: string,
  key: readonly string[],
): TableModel | undefined {
  const [, found] = Object.entries(platform.tables).find(([name, { id }]) => name === table || id === table) ?? [];
  if (!found) return undefined;
  const seeds = toPlainValue(find(root, ["seeds"])?.value ?? { kind: "map", at: root.at, entries: new Map() });
  const seed = Object.values(isObject(seeds) ? seeds : {}).find((one) => isObject(one) && one["table"] === table);
  const stated = isObject(seed) ? [seed["key"]].flat().filter((label) => typeof label === "string") : [];
  const fields = Object.entries(found.fields).flatMap(([label, { type, table: to, field }]): FieldModel[] => {
    const kind = kindsOfFields[type];
    if (kind === undefined) return [];
    const link = kind === "linked" && to !== undefined && field !== undefined;
    return [
      {
        ...{ label, kind, sure: "declared", filled: 0, unique: false, exceptions: [], isWhole: false },
        ...(link ? { link: { table: platform.tables[to]?.id ?? to, key: field } } : {}),
      },
    ];
  });
  return { table, rows: 0, key: key.length > 0 ? [...key] : stated, fields };
}
