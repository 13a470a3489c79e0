import type { RowSchema } from "./editors.ts";
import type { FieldModel, Kind, TableModel } from "./model.ts";

/** Types of Frictionless Table Schema. */
const frictionless: Readonly<Record<Kind, string>> = {
  text: "string",
  number: "number",
  date: "datetime",
  checkbox: "array",
  boolean: "boolean",
  location: "object",
  linked: "string",
  json: "any",
  any: "any",
};

const tableType = ({ kind, isWhole }: FieldModel): string => {
  if (kind === "number" && isWhole) return "integer";
  return kind === "date" && isWhole ? "date" : frictionless[kind];
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
      properties: Object.fromEntries(fields.map((field) => [field.label, valueSchema(field)])),
      ...(key.length > 0 ? { required: key } : {}),
      additionalProperties: false,
    },
  };
}

function valueSchema({ kind, isWhole, values, link }: FieldModel): object {
  const nothing = { type: "null" };
  switch (kind) {
    case "text":
      // Another text is right as well; the known ones are offered.
      return values ? { anyOf: [{ enum: values }, { type: "string" }, nothing] } : { type: ["string", "null"] };
    case "number":
      return { type: [isWhole ? "integer" : "number", "null"] };
    case "date":
      return { type: ["string", "null"], format: isWhole ? "date" : "date-time" };
    case "checkbox":
      return { anyOf: [{ type: "array", items: { type: "string" } }, nothing] };
    case "boolean":
      return { type: ["boolean", "null"] };
    case "linked":
      return {
        type: ["string", "number", "null"],
        description: `Key of the row that is linked to${link ? `: its ${link.key}` : ""}.`,
      };
    case "location":
      return { type: ["object", "null"] };
    default:
      return {};
  }
}

const typescript: Readonly<Record<Kind, string>> = {
  text: "string",
  number: "number",
  date: "string",
  checkbox: "string[]",
  boolean: "boolean",
  location: "Record<string, unknown>",
  linked: "string | number",
  json: "unknown",
  any: "unknown",
};

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
    const type = typescript[kind];
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
