import { existsSync } from "node:fs";
import { dirname, join, relative } from "node:path";

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
