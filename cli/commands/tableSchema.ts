import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { printable, printableJson } from "../../engine/index.ts";
import { keepMemorySmall } from "../../machine/processes.ts";
import { nearest } from "../../machine/spelling.ts";
import { declarable } from "../../platform/contract/values.ts";
import { isNotFound } from "../../platform/contract/wire.ts";
import { formatCount, quote, some } from "../../platform/messages/text.ts";
import { readEnvironment } from "../../provider/environment/declaration.ts";
import { aTable, rowsOf } from "../../provider/seedRows/table.ts";
import { TableInference, type TableModel } from "../tableSchema/inference.ts";
import {
  fileNameOf,
  findDeclaredModel,
  modeline,
  readPlatform,
  summarize,
  toRowSchema,
  toTableSchema,
  toTypeScript,
} from "../tableSchema/outputs.ts";
import { look } from "./platform.ts";
import { settingsOf } from "./platform.ts";

/** Flags of the command. */
export interface SchemaOptions {
  cwd?: string;
  stack?: string;
  key?: string;
  from?: string;
  out?: string;
  as?: "table-schema" | "json-schema" | "typescript";
  type?: string;
  json?: boolean;
}

/** Describes a table from its rows, or from the platform that a file describes. */
export async function describeTable(table: string, options: SchemaOptions): Promise<void> {
  const cwd = path.resolve(options.cwd ?? ".");
  if (options.type !== undefined && !/^[A-Za-z_$][\w$]*$/.test(options.type))
    throw new Error(`--type: ${quote(options.type)} is not a name for a type: use letters and digits`);
  const key = (options.key ?? "").split("+").filter((label) => label !== "");
  const model =
    options.from === undefined ? await readModel(table, key, options) : declared(table, key, cwd, options.from);
  for (const label of key) assertLabel(model, label);
  if (options.out !== undefined) write(model, path.resolve(cwd, options.out), options);
  process.stdout.write(`${textOf(model, options)}\n`);
}

function textOf(model: TableModel, { as: form, json, type }: SchemaOptions): string {
  if (form === "table-schema") return printableJson(toTableSchema(model), 2);
  if (form === "json-schema") return printableJson(toRowSchema(model), 2);
  if (form === "typescript") return printable(toTypeScript(model, type).trimEnd(), false);
  return json ? printableJson(model, 2) : printable(summarize(model), false);
}

function assertLabel({ table, fields }: TableModel, label: string): void {
  const labels = fields.map((field) => field.label);
  if (labels.includes(label)) return;
  const near = nearest(label, labels);
  throw new Error(
    `--key: table ${table} has no label ${quote(label)}${near === undefined ? `; it has ${labels.join(", ")}` : `; did you mean ${quote(near)}?`}`,
  );
}

function write(model: TableModel, folder: string, { type }: SchemaOptions): void {
  const name = fileNameOf(model.table);
  mkdirSync(folder, { recursive: true });
  const put = (file: string, text: string): void => writeFileSync(path.join(folder, file), text);
  put(`${name}.schema.json`, `${JSON.stringify(toTableSchema(model), undefined, 2)}\n`);
  put(`${name}.rows.schema.json`, `${JSON.stringify(toRowSchema(model), undefined, 2)}\n`);
  put(`${name}.ts`, toTypeScript(model, type));
  const rows = `${name}.rows.schema.json`;
  console.error(
    `wrote ${name}.schema.json, ${rows} and ${name}.ts; an editor completes rows in YAML below the line\n${modeline(rows).trimEnd()}`,
  );
}

/** Fields that an environment file describes under platform, or a platform seed of its own. */
function declared(table: string, key: readonly string[], cwd: string, file: string): TableModel {
  const { root, problems } = readEnvironment(file, cwd);
  if (!root) throw new Error(`${file}: ${problems[0]?.message ?? "can't be read"}`);
  const platform = readPlatform(path.resolve(cwd, file), cwd);
  const found = findDeclaredModel(platform, root, table, key);
  if (found) return found;
  const names = Object.keys(platform.tables);
  throw new Error(`${file}: platform has no table ${quote(table)}; it has ${some(names, 20)}`);
}

/** Rows of one page: a quarter of what an answer may have, since several pages are in memory at a time. */
const pageSize = 2_500;

/** Reads all rows of a table, page by page, and keeps none. */
async function readModel(table: string, key: readonly string[], options: SchemaOptions): Promise<TableModel> {
  const { settings, folder } = await settingsOf(options);
  keepMemorySmall();
  return look(settings, folder, async (context) => {
    const inference = new TableInference(table, key);
    try {
      for await (const page of rowsOf(context, table, aTable, { pageSize })) {
        for (const { _id: _, embeddingRowID: _parent, viewers: _viewers, teamViewers: _teams, ...rest } of page)
          inference.observe(declarable(rest));
        context.report.status(`${table}: ${formatCount(inference.rows, "row")} read`);
      }
    } catch (error) {
      throw isNotFound(error) ? new Error(`there is no table ${table} on the platform: name it by its ID`) : error;
    }
    if (inference.rows === 0)
      throw new Error(`table ${table} has no rows, which have its labels: name an environment file by --from`);
    return inference.model();
  });
}
