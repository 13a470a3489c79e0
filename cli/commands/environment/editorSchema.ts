import { writeFileSync } from "node:fs";
import path from "node:path";
import { EngineError, oneLine } from "../../../engine/index.ts";
import { messageOf } from "../../../machine/failures.ts";
import { isObject, jsonIn } from "../../../platform/contract/wire.ts";
import { formatCount, quote, some } from "../../../platform/messages/text.ts";
import { type Declaration, readEnvironment } from "../../../provider/environment/declaration.ts";
import { EnvironmentError } from "../../../provider/environment/problems.ts";
import { textIfAny } from "../../../provider/files/files.ts";
import { find, type Value } from "../../../provider/layers/document.ts";
import {
  fileNameOf,
  modeline,
  packageSchemaFrom,
  toEnvironmentSchema,
  type RowSchema,
} from "../../tableSchema/outputs.ts";
import { toRowSchema } from "../../tableSchema/outputs.ts";
import { findDeclaredModel, readPlatform } from "../../tableSchema/outputs.ts";

type Seed = Declaration["seeds"][string];

/**
 * Writes the schema by which an editor completes an Environment file down to the labels of its rows, and describes what
 * it has. Rows are known from what `table schema` wrote to the folder schemas, or from the tables under platform.
 * @param name the Environment file, relative to `folder`
 * @param out the file to write, relative to `folder`
 */
export function writeEditorSchema(name: string, folder: string, out: string): string {
  const { root, declared, problems } = readEnvironment(name, folder);
  if (!root || !declared) throw new EngineError(new EnvironmentError(name, problems).message, 2);
  const target = path.resolve(folder, out);
  const rowsOf = rowReader(name, folder, root);
  const described = Object.entries(declared.seeds).map(([seed, one]) => [seed, one, rowsOf(one)] as const);
  const known = described.flatMap(([seed, , rows]) => (rows ? [[seed, rows] as const] : []));
  const schema = toEnvironmentSchema(packageSchemaFrom(path.dirname(target)), Object.fromEntries(known));
  try {
    writeFileSync(target, `${JSON.stringify(schema, undefined, 2)}\n`);
  } catch (error) {
    throw new EngineError(`${oneLine(out)} can't be written: ${messageOf(error)}`);
  }
  const from = path.relative(path.dirname(path.resolve(folder, name)), target).replaceAll("\\", "/");
  const lines = [
    `wrote ${out}, with the rows of ${
      known.length === 0
        ? "no seed"
        : `${formatCount(known.length, "seed")}: ${some(
            known.map(([seed]) => quote(seed)),
            20,
          )}`
    }`,
    ...described.flatMap(([seed, { table }, rows]) => (rows ? [] : [adviceFor(seed, table)])),
    `an editor completes ${name}, and what it extends, below the line\n${modeline(from).trimEnd()}`,
  ];
  return `${lines.join("\n")}\n`;
}

const adviceFor = (seed: string, table: string): string =>
  `seed ${seed}: its rows are not known: run "microapps table schema ${table} --out schemas"`;

/** Reads what is known of a seed's rows; undefined where that is nothing. */
function rowReader(name: string, folder: string, root: Value): (seed: Seed) => RowSchema | undefined {
  const platform = find(root, ["platform"]) ? readPlatform(path.resolve(folder, name), folder) : undefined;
  return ({ table, key, parent }) => {
    const own = readRowSchema(table, folder);
    const model = own || !platform ? undefined : findDeclaredModel(platform, root, table, [key].flat());
    const rows = own ?? (model && toRowSchema(model).items);
    if (!rows || parent?.by === undefined) return rows;
    // The column that names the parent row is none of the table.
    return { ...rows, properties: { [parent.by]: {}, ...rows.properties } };
  };
}

/** The schema of rows that `table schema --out schemas` wrote; undefined where there is none. */
function readRowSchema(table: string, folder: string): RowSchema | undefined {
  const beside = `schemas/${fileNameOf(table)}.rows.schema.json`;
  const text = textIfAny(folder, beside);
  if (text === undefined) return undefined;
  const content = jsonIn(text);
  const items = isObject(content) ? content["items"] : undefined;
  if (isRowSchema(items)) return items;
  throw new EngineError(`${oneLine(beside)} has no schema of rows: write it again by "microapps table schema"`);
}

const isRowSchema = (value: unknown): value is RowSchema =>
  isObject(value) && isObject(value["properties"]) && Object.values(value["properties"]).every(isObject);
