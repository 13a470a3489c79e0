import { isDeepStrictEqual } from "node:util";
import { stringify } from "yaml";
import { z } from "zod";
import { isObject, type Json } from "../platform/contract/wire.ts";
import { functions, listingOf, type PlatformFunction } from "../provider/functions/functions.ts";
import { bindingOutput, configuration, variableOf } from "../provider/pulumi/configuration.ts";
import { environmentType } from "../provider/pulumi/names.ts";
import type { Resource } from "../provider/resources/resource.ts";
import { resources } from "../provider/resources/resources.ts";

/** A type or a property in Pulumi's package schema. */
export interface PropertySpec {
  type?: string;
  $ref?: string;
  items?: PropertySpec;
  additionalProperties?: PropertySpec;
  oneOf?: PropertySpec[];
  description?: string;
  default?: unknown;
  defaultInfo?: { environment: string[] };
  replaceOnChanges?: boolean;
  secret?: boolean;
}

/** An object of the package schema: the inputs or outputs of a function, or a type with a name. */
export interface ObjectSpec {
  type?: string;
  description?: string;
  properties?: Record<string, PropertySpec>;
  required?: readonly string[];
  /** A type with a name may be one of these texts instead. */
  enum?: { value: string }[];
}

export interface ResourceSpec extends ObjectSpec {
  description: string;
  isComponent?: boolean;
  inputProperties?: Record<string, PropertySpec>;
  requiredInputs?: readonly string[];
  listInputs?: ObjectSpec;
}

export interface FunctionSpec {
  description: string;
  inputs?: ObjectSpec;
  outputs?: ObjectSpec;
}

/** Pulumi's package schema, as far as documentation and comparison need it. */
export interface PackageSchema {
  version: string;
  config: { variables: Record<string, PropertySpec> };
  provider: Partial<ResourceSpec>;
  resources: Record<string, ResourceSpec>;
  functions: Record<string, FunctionSpec>;
  types: Record<string, ObjectSpec>;
  /** Settings of the SDK of each language. */
  language?: Record<string, Record<string, unknown>>;
  /** What SDKs and the registry need. */
  [other: string]: unknown;
}

/** `microapps:index:Team` → `Team`. */
export const nameOf = (token: string): string => token.split(":").at(-1) ?? token;

/** A type as JSON Schema has it: what it refers to by name stands in its place. */
export const inlined = (type: PropertySpec | ObjectSpec, schema: PackageSchema): Json =>
  JSON.parse(JSON.stringify(type), (key, value: unknown) => {
    if (key === "enum") return (value as { value: string }[]).map((one) => one.value);
    const name = isObject(value) && typeof value["$ref"] === "string" ? value["$ref"].replace("#/types/", "") : "";
    return name === "" ? value : { ...inlined(schema.types[name] ?? {}, schema), ...(value as object) };
  }) as Json;

/** A property of a definition. Its JSON Schema has the facts that the definition says about it, such as `secret`. */
export interface Field {
  key: string;
  schema: z.core.JSONSchema.BaseSchema & z.core.GlobalMeta;
  isRequired: boolean;
}

type Side = "input" | "output";

/** The properties of a definition, as a program gives or gets them. */
export const fieldsOf = (definition: z.ZodType, io: Side): Field[] =>
  fieldsIn(z.toJSONSchema(definition, { io, unrepresentable: "any" }));

/** The properties of an object's JSON Schema. */
export function fieldsIn({ properties, required }: JsonSchema): Field[] {
  return Object.entries(schemaIn(properties)).map(([key, schema]) => ({
    key,
    schema: schemaIn(schema),
    isRequired: Array.isArray(required) && required.includes(key),
  }));
}

/** The package schema of Pulumi, of which SDKs and documentation are made: all of it follows from the definitions. */
export function packageSchema(version: string): PackageSchema {
  const types = new TypeSpecs();
  // Other languages have one kind of provider. Former spellings of keys are read, and not declared: in Python a former
  // name and the present one are the same.
  const fields = fieldsOf(configuration.omit({ providerKind: true }), "output");
  const { properties: variables } = types.object(fields, "output", "Config");
  for (const [name, property] of Object.entries(variables)) {
    // A variable is a text: SDKs can't make an object of it, and the plugin reads it by itself.
    if (property.type !== "object") property.defaultInfo = { environment: [variableOf(name)] };
  }
  return {
    name: "microapps",
    displayName: "Microapps",
    publisher: "The pulumi-microapps authors",
    version,
    description:
      "Organizations, teams, members, seed rows and generated apps of a microapp platform, kept as declared.",
    keywords: ["pulumi", "microapps", "category/infrastructure", "kind/native"],
    license: "Apache-2.0",
    config: { variables },
    provider: {
      description: "A platform and the account to work with. Without one of its own, a program uses the configuration.",
      // What SDKs can read back.
      properties: Object.fromEntries(Object.entries(variables).filter(([, { type }]) => type === "string")),
      inputProperties: variables,
    },
    resources: {
      [environmentType]: environmentSpec,
      ...Object.fromEntries(
        resources.map((resource) => [`microapps:index:${resource.name}`, resourceSpec(resource, types)]),
      ),
    },
    functions: Object.fromEntries(
      functions.map((definition) => [`microapps:index:${definition.name}`, functionSpec(definition, types)]),
    ),
    types: types.specs,
    language: {
      nodejs: { respectSchemaVersion: true },
      python: { respectSchemaVersion: true, pyproject: { enabled: true } },
      go: {
        respectSchemaVersion: true,
        generateResourceContainerTypes: true,
        importBasePath: "example.com/pulumi-microapps/sdk/go/microapps", // the same whatever the CLI's version
      },
      csharp: { respectSchemaVersion: true },
      java: { basePackage: "com.pulumi", buildFiles: "gradle" }, // com.pulumi.microapps
    },
  };
}

const textMap = (description: string, type = "string"): PropertySpec => ({
  type: "object",
  additionalProperties: { type },
  description,
});

/** The component as the schema has it: inputs as `EnvironmentArgs` of the SDK, outputs as its `Environment`. */
const environmentSpec = {
  isComponent: true,
  description:
    "Organizations, teams, members, seed rows and generated apps, declared in one YAML file. Each becomes a resource of " +
    "its own below this one, named `<environment>/<logical name>`: what is edited in the file, and what is changed by " +
    "hand on the platform, shows in a preview by name. A wrong file ends the run before anything is sent, with every " +
    `problem at its file, line and column.\n\n${environmentExample()}`,
  properties: {
    organizations: textMap("IDs of the organizations by logical name."),
    teams: textMap("IDs of the teams by `organization/team`."),
    seeds: textMap("Row counts by logical name of the seed.", "integer"),
    apps: textMap("Links to the apps by logical name; known once an app is ready."),
  },
  required: ["organizations", "teams", "seeds", "apps"],
  requiredInputs: ["file"],
  inputProperties: {
    file: {
      type: "string",
      description:
        "Path of the YAML file, relative to the folder in which the program runs. No output of a resource decides it.",
    },
  },
};

function resourceSpec(resource: Resource, types: TypeSpecs): ResourceSpec {
  const { name, inputs, outputs } = resource;
  // Properties that no state has, or no program sees.
  const isSeen = ({ schema }: Field): boolean => !schema.passing && !schema.internal;
  const all = fieldsOf(z.object({ ...inputs.shape, ...outputs.shape }), "output");
  const kept = types.object(
    all.filter((field) => isSeen(field) && !field.schema.writeOnly),
    "output",
    name,
  );
  const given = types.object(
    fieldsOf(inputs, "input").filter((field) => isSeen(field) && !field.schema.computed),
    "input",
    name,
  );
  const listing = listingOf(name);
  return {
    description: documentationOf(resource),
    properties: { ...kept.properties, [bindingOutput]: { type: "string", description: "Platform that it is on." } },
    required: [...kept.required, bindingOutput],
    inputProperties: given.properties,
    requiredInputs: given.required,
    ...(listing && { listInputs: types.object(fieldsOf(listing.inputs, "input"), "input", `${name}List`) }),
  };
}

function functionSpec(definition: PlatformFunction, types: TypeSpecs): FunctionSpec {
  const { inputs, outputs } = definition;
  const name = pascal(definition.name);
  return {
    description: documentationOfFunction(definition),
    inputs: types.object(fieldsOf(inputs, "input"), "input", name),
    outputs: types.object(fieldsOf(outputs, "output"), "output", name),
  };
}

/** `onDestroy` → `OnDestroy`. */
export const pascal = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

type JsonSchema = Readonly<Record<string, unknown>>;

/** A schema within another one; `true` and nothing say anything. */
export const schemaIn = (value: unknown): JsonSchema => (isObject(value) ? value : {});

/** Types by JSON Schema. Enumerations and objects get names, and stand in `specs`. */
class TypeSpecs {
  readonly specs: Record<string, ObjectSpec> = {};

  /** An object without a name. @param owner what the names of its types start with, e.g. `SeedRows` */
  object(fields: readonly Field[], io: Side, owner: string) {
    const properties = fields.map(({ key, schema }): [string, PropertySpec] => {
      const { description, default: value, replaces, secret } = schema;
      const property: PropertySpec = this.#of(schema, `${owner}${pascal(key)}`);
      if (description !== undefined) property.description = description;
      if (io === "input" && ["string", "number", "boolean"].includes(typeof value)) property.default = value;
      if (replaces) property.replaceOnChanges = true;
      if (secret) property.secret = true;
      return [key, property];
    });
    const required = fields.filter(({ isRequired }) => isRequired).map(({ key }) => key);
    return { type: "object", properties: Object.fromEntries(properties), required };
  }

  /** @param name what it is called if it needs a name, e.g. `SeedRowsMode` */
  #of(schema: JsonSchema, name: string): PropertySpec {
    const { type, anyOf, enum: values, properties, items, additionalProperties } = schema;
    if (Array.isArray(anyOf)) return this.#union(anyOf.map(schemaIn), name);
    if (Array.isArray(values)) return this.#enumeration(values.map(String), name);
    if (Array.isArray(type)) {
      const options = type.map((one: unknown) => ({ ...schema, type: one }));
      return this.#union(options, name);
    }
    switch (type) {
      case "string":
      case "number":
      case "integer":
      case "boolean":
        return { type };
      case "array":
        return { type, items: this.#of(schemaIn(items), name) };
      case "object":
        return properties
          ? this.#object(schema, name)
          : { type, additionalProperties: this.#of(schemaIn(additionalProperties), name) };
      default:
        return { $ref: "pulumi.json#/Any" };
    }
  }

  #union(options: readonly JsonSchema[], name: string): PropertySpec {
    // Nothing is what a property has that is not set.
    const specs = options.filter(({ type }) => type !== "null").map((option) => this.#of(option, name));
    const different = specs.filter((spec, i) => specs.findIndex((one) => isDeepStrictEqual(one, spec)) === i);
    if (different.length === 1 && different[0]) return different[0];
    // Pulumi's SDK for Python fails on a list where a program's value may also be something else.
    return different.some(({ items }) => items) ? { $ref: "pulumi.json#/Any" } : { oneOf: different };
  }

  #enumeration(values: readonly string[], name: string): PropertySpec {
    // Generators of SDKs make no name of punctuation.
    if (!values.every((value) => /[a-z]/i.test(value))) return { type: "string" };
    return this.#named(name, { type: "string", enum: values.map((value) => ({ value })) });
  }

  #object(schema: JsonSchema, name: string): PropertySpec {
    const { type, properties, required } = this.object(fieldsIn(schema), "output", name);
    return this.#named(name, {
      type,
      ...(typeof schema["description"] === "string" && { description: schema["description"] }),
      properties,
      ...(required.length > 0 && { required }),
    });
  }

  #named(name: string, spec: ObjectSpec): PropertySpec {
    const token = `microapps:index:${name}`;
    const known = this.specs[token];
    if (known && !isDeepStrictEqual(known, spec)) throw new Error(`two types would be called ${token}`);
    this.specs[token] = spec;
    return { $ref: `#/types/${token}` };
  }
}

/** A resource's documentation for the package: description, example and import. */
const documentationOf = (resource: Resource): string =>
  [
    resource.summary,
    exampleOf({ resources: declared(withReferences(resource.example.inputs), resource) }),
    importOf(resource),
  ].join("\n\n");

/** A function's documentation: its result, and an example. */
function documentationOfFunction({ name, summary, example }: PlatformFunction): string {
  const resources = withReferences(example.inputs);
  const invoked = { "fn::invoke": { function: `microapps:${name}`, arguments: example.inputs } };
  const program = {
    ...(resources.length > 0 ? { resources: declared(resources) } : {}),
    variables: { found: invoked },
    outputs: { [example.output]: `\${found.${example.output}}` },
  };
  return [summary, exampleOf(program)].join("\n\n");
}

/** The example of the component. */
function environmentExample(): string {
  const environment = { type: "microapps:Environment", properties: { file: "${pulumi.stack}.yaml" } };
  return exampleOf({ resources: { environment } });
}

/** A whole program in YAML, as the documentation of a package holds it. */
function exampleOf(program: object): string {
  // The heading is inside, so that documentation in other languages leaves out all of it.
  return [
    "{{% examples %}}",
    "{{% example %}}",
    "## Example Usage",
    "",
    "```yaml",
    `${stringify(program, { lineWidth: 0 })}\`\`\``,
    "{{% /example %}}",
    "{{% /examples %}}",
  ].join("\n");
}

function importOf({ name, example, importedBy }: Resource): string {
  const byID =
    "id" in importedBy
      ? [["```sh", `pulumi import microapps:index:${name} ${example.name} '${importedBy.id}'`, "```"].join("\n")]
      : [];
  const { otherwise } = importedBy;
  return ["## Import", ...byID, ...(otherwise === undefined ? [] : [otherwise])].join("\n\n");
}

const declared = (...all: (Resource | Resource[])[]): object =>
  Object.fromEntries(
    all.flat().map(({ name, example }) => [example.name, { type: `microapps:${name}`, properties: example.inputs }]),
  );

/** Resources that an example refers to, each after its own references. */
function withReferences(inputs: unknown): Resource[] {
  const names = [...JSON.stringify(inputs).matchAll(/\$\{(\w+)/g)].map(([, name]) => name);
  const referred = resources.filter(({ example }) => names.includes(example.name));
  return [...new Set(referred.flatMap((each) => [...withReferences(each.example.inputs), each]))];
}
