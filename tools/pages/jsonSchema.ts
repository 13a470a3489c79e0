import { isObject, type Json } from "../../platform/contract/wire.ts";
import { code, escapeCell, row } from "./markdown.ts";

/** The cells of a property's row. */
type Cells = (path: string, property: Json, isRequired: boolean) => string[];

/** Path, type, whether it is required, and description with the default. */
const usual: Cells = (path, property, isRequired) => {
  const { default: value } = property;
  const isShort = ["string", "number", "boolean"].includes(typeof value);
  const unset = isShort ? ` Default: ${code(JSON.stringify(value))}.` : "";
  return [code(path), typeOf(property), isRequired ? "yes" : "", meaningOf(property) + unset];
};

export const meaningOf = ({ description }: Json): string =>
  escapeCell(typeof description === "string" ? description : "");

/** Properties of a JSON Schema's object, and those inside of them below, as rows. */
export function rowsOf(schema: Json, cells = usual, prefix = ""): string[] {
  const required = Array.isArray(schema["required"]) ? (schema["required"] as unknown[]) : [];
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  return Object.entries(properties).flatMap(([name, found]) => {
    const property = isObject(found) ? found : {};
    const path = `${prefix}${name}`;
    return [row(...cells(path, property, required.includes(name))), ...insideOf(property, cells, path)];
  });
}

/** The properties of what a property holds: an object, the items of a list, the entries of a map. */
function insideOf(schema: Json, cells: Cells, path: string): string[] {
  const { items, additionalProperties: entries } = schema;
  return [
    ...rowsOf(schema, cells, `${path}.`),
    ...(isObject(items) ? insideOf(items, cells, `${path}[]`) : []),
    ...(isObject(entries) ? insideOf(entries, cells, `${path}.*`) : []),
    ...optionsOf(schema).flatMap((option) => insideOf(option, cells, path)),
  ];
}

const optionsOf = (schema: Json): Json[] => {
  const options = schema["anyOf"] ?? schema["oneOf"];
  return Array.isArray(options) ? options.filter(isObject) : [];
};

export function typeOf(schema: Json): string {
  const { type, enum: values, const: only, items, additionalProperties: entries } = schema;
  const options = optionsOf(schema);
  if (Array.isArray(values)) return values.map((value) => code(String(value))).join(" or ");
  if (only !== undefined) return code(JSON.stringify(only));
  if (Array.isArray(type)) return type.join(" or ");
  if (options.length > 0) return [...new Set(options.map(typeOf))].filter(Boolean).join(" or ");
  if (type === "array") return isObject(items) && typeOf(items) !== "any" ? `list of ${grouped(items)}` : "list";
  if (type === "object" && isObject(entries)) return `map of ${grouped(entries)}`;
  return typeof type === "string" ? type : "any";
}

function grouped(schema: Json): string {
  const type = typeOf(schema);
  return type.includes(" or ") ? `(${type})` : type;
}
