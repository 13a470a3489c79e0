import fc from "fast-check";
import { isObject, type Json } from "../../platform/contract/wire.ts";

type Values = fc.Arbitrary<unknown>;

/** Values that mean something on the platform, by the end of a property's name. */
export type Known = Readonly<Record<string, readonly string[]>>;

const anything = fc.jsonValue({ maxDepth: 2 });

/**
 * Any value that a JSON Schema allows. Existing values stand where a property's name asks for one, next to invented
 * ones.
 */
export function allowedBy(schema: unknown, known: Known, name = ""): Values {
  if (!isObject(schema)) return anything;
  const options = schema["anyOf"] ?? schema["oneOf"];
  if (Array.isArray(options) && isObject(schema["properties"])) {
    return fc.oneof(...options.map((option) => objects(both({ ...schema, anyOf: undefined }, option as Json), known)));
  }
  if (Array.isArray(options)) return fc.oneof(...options.map((option) => allowedBy(option, known, name)));
  if (Array.isArray(schema["enum"])) return fc.constantFrom(...(schema["enum"] as unknown[]));
  if ("const" in schema) return fc.constant(schema["const"]);
  const types = [schema["type"]].flat();
  if (types.length > 1) return fc.oneof(...types.map((type) => allowedBy({ ...schema, type }, known, name)));
  switch (types[0]) {
    case "string":
      return texts(schema, known, name);
    case "number":
      return fc.oneof(fc.nat(20), fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }));
    case "integer":
      return fc.integer();
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case "array": {
      const minLength = Number(schema["minItems"] ?? 0);
      return fc.array(allowedBy(schema["items"], known, name.replace(/s$/, "")), {
        minLength,
        maxLength: minLength + 3,
      });
    }
    case "object":
      return objects(schema, known);
    default:
      return anything;
  }
}

function texts(schema: Json, known: Known, name: string): Values {
  const { pattern } = schema;
  const invented =
    typeof pattern === "string"
      ? fc.stringMatching(new RegExp(pattern), { size: "small" })
      : fc.string({ minLength: Number(schema["minLength"] ?? 0), maxLength: 20, unit: "binary" });
  const end = Object.keys(known).find((end) => name.endsWith(end));
  const familiar = end === undefined ? [] : (known[end] ?? []);
  if (familiar.length === 0) return invented;
  return fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...familiar) }, { weight: 1, arbitrary: invented });
}

/** An object's schema and another one that it must fit as well. */
const both = (schema: Json, more: Json): Json => ({
  ...schema,
  properties: { ...(schema["properties"] as Json), ...(more["properties"] as Json) },
  required: [schema["required"] ?? [], more["required"] ?? []].flat(),
});

function objects(schema: Json, known: Known): Values {
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"]) ? (schema["required"] as string[]) : [];
  const declared = fc.record(
    Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, allowedBy(inner, known, name)])),
    { requiredKeys: required.filter((name) => Object.hasOwn(properties, name)) },
  );
  const { additionalProperties } = schema;
  if (additionalProperties === undefined || additionalProperties === false) return declared;
  const labels = known["label"] ?? [];
  const key = labels.length === 0 ? fc.string() : fc.oneof(fc.constantFrom(...labels), fc.string());
  const more = fc.dictionary(key, allowedBy(additionalProperties, known), { maxKeys: 3 });
  return fc.tuple(more, declared).map(([more, declared]) => ({ ...more, ...declared }));
}
