import type { Json } from "../platform/contract/wire.ts";
import { type PropertySpec, schemaText, type TypeSpec } from "../provider/pulumi/plugin/schema.ts";

/** An object of the package schema: the inputs or outputs of a function, or a type with a name. */
export interface ObjectSpec {
  properties?: Record<string, PropertySpec>;
  required?: readonly string[];
}

export interface ResourceSpec extends ObjectSpec {
  description: string;
  isComponent?: boolean;
  inputProperties?: Record<string, PropertySpec>;
  requiredInputs?: string[];
}

export interface FunctionSpec {
  description: string;
  inputs?: ObjectSpec;
  outputs?: ObjectSpec;
}

/** A type with a name: an object, or an enumeration of texts. */
export interface NamedSpec extends ObjectSpec {
  enum?: { value: string }[];
}

/** Pulumi's package schema, as far as documentation and comparison need it. */
export interface PackageSchema {
  version: string;
  config: { variables: Record<string, PropertySpec> };
  provider: { inputProperties?: Record<string, PropertySpec> };
  resources: Record<string, ResourceSpec>;
  functions: Record<string, FunctionSpec>;
  types: Record<string, NamedSpec>;
  /** Settings of the SDK of each language. */
  language?: Record<string, Record<string, unknown>>;
}

/** The schema of the definitions. */
export const presentSchema = (version: string): PackageSchema => JSON.parse(schemaText(version)) as PackageSchema;

/** `microapps:index:Team` → `Team`. */
export const nameOf = (token: string): string => token.split(":").at(-1) ?? token;

/** A type as JSON Schema has it: what it refers to by name stands in its place. */
export function inlined(type: TypeSpec | ObjectSpec, schema: PackageSchema): Json {
  const { $ref, enum: values, ...own } = { $ref: undefined, enum: undefined, ...type } as TypeSpec & NamedSpec;
  const named = $ref === undefined ? {} : inlined(schema.types[$ref.replace("#/types/", "")] ?? {}, schema);
  const inner = (one: TypeSpec): Json => inlined(one, schema);
  return {
    ...named,
    ...own,
    ...(values && { enum: values.map(({ value }) => value) }),
    ...(own.items && { items: inner(own.items) }),
    ...(own.additionalProperties && { additionalProperties: inner(own.additionalProperties) }),
    ...(own.oneOf && { oneOf: own.oneOf.map(inner) }),
    ...(own.properties && {
      properties: Object.fromEntries(Object.entries(own.properties).map(([name, one]) => [name, inner(one)])),
    }),
  };
}
