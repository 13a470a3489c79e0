import { isObject, type Json } from "../../platform/contract/wire.ts";
import { code, escapeCell, row } from "./markdown.ts";

/** Properties of a JSON Schema's object, those inside of them below, as rows: path, type, required, description. */
export function rowsOf(schema: Json, prefix = ""): string[] {
  const required = Array.isArray(schema["required"]) ? (schema["required"] as unknown[]) : [];
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  return Object.entries(properties).flatMap(([name, found]) => {
    const property = isObject(found) ? found : {};
    const path = `${prefix}${name}`;
    const description = typeof property["description"] === "string" ? property["description"] : "";
    const { default: value } = property;
    const unset = ["string", "number", "boolean"].includes(typeof value)
      ? ` Default: ${code(JSON.stringify(value))}.`
      : "";
    return [
      row(code(path), typeOf(property), required.includes(name) ? "yes" : "", escapeCell(description) + unset),
      ...insideOf(property, path),
    ];
  });
}

/** The properties of what a property holds: an object, the items of a list, the entries of a map. */
function insideOf(schema: Json, path: string): string[] {
  const { items, additionalProperties: entries } = schema;
  return [
    ...rowsOf(schema, `${path}.`),
    ...(isObject(items) ? insideOf(items, `${path}[]`) : []),
    ...(isObject(entries) ? insideOf(entries, `${path}.*`) : []),
    ...optionsOf(schema).flatMap((option) => insideOf(option, path)),
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
  if (type === "array") return isObject(items) && typeOf(items) !== "any" ? `list of ${typeOf(items)}` : "list";
  if (type === "object" && isObject(entries)) return `map of ${typeOf(entries)}`;
  return typeof type === "string" ? type : "any";
}
