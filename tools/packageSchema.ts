import { stringify } from "yaml";
import { z } from "zod";
import type { Json } from "../platform/contract/wire.ts";
import { functions, listingOf, type PlatformFunction } from "../provider/functions/functions.ts";
import { bindingOutput, configuration, variableOf } from "../provider/pulumi/configuration.ts";
import { environmentType } from "../provider/pulumi/names.ts";
import { factsOf } from "../provider/resources/common.ts";
import type { Resource } from "../provider/resources/resource.ts";
import { resources } from "../provider/resources/resources.ts";

/** A type in Pulumi's package schema. */
export interface TypeSpec {
  type?: string;
  $ref?: string;
  items?: TypeSpec;
  additionalProperties?: TypeSpec;
  oneOf?: TypeSpec[];
}

/** A property in Pulumi's package schema. */
export interface PropertySpec extends TypeSpec {
  description?: string;
  default?: unknown;
  defaultInfo?: { environment: string[] };
  replaceOnChanges?: boolean;
  secret?: boolean;
  deprecationMessage?: string;
}

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

/** The schema of the definitions, as JSON has it. */
export const presentSchema = (version: string): PackageSchema =>
  JSON.parse(JSON.stringify(packageSchema(version))) as PackageSchema;

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

/** The package schema of Pulumi, of which SDKs and documentation are made: all of it follows from the definitions. */
function packageSchema(version: string): object {
  const types = new TypeSpecs();
  // Other languages have one kind of provider. Former spellings of keys are read, and not declared: in Python a former
  // name and the present one are the same.
  const variables = propertiesOf(configuration.omit({ providerKind: true }), "output", "Config", types);
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
      properties: only(variables, ({ type }) => type === "string"), // what SDKs can read back
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

function resourceSpec(resource: Resource, types: TypeSpecs): object {
  const { name } = resource;
  const facts = (property: string) => factsOf({ ...resource.outputs.shape, ...resource.inputs.shape }[property]);
  const isInput = (property: string) => property in resource.inputs.shape;
  // Properties that no state has, or no program sees, get no type either.
  const isSeen = (property: string) => !facts(property).passing && !facts(property).internal;
  const inputs = z.object(only({ ...resource.inputs.shape }, (_, property) => isSeen(property)));
  const kept = z.object({ ...inputs.shape, ...resource.outputs.shape });
  const properties = only(
    propertiesOf(kept, "output", name, types),
    (_, property) => !facts(property).internal && !facts(property).writeOnly,
  );
  properties[bindingOutput] = { type: "string", description: "Platform that it is on." };
  const inputProperties = only(
    propertiesOf(inputs, "input", name, types),
    (_, property) => isInput(property) && !facts(property).computed,
  );
  // A value that the resource fills in is always there.
  const required = [...requiredOf(kept, "output").filter((property) => property in properties), bindingOutput];
  const requiredInputs = requiredOf(inputs, "input").filter((property) => property in inputProperties);
  const description = documentationOf(resource);
  const listing = listingOf(name);
  const listInputs = listing && objectSpec(listing.inputs, "input", `${name}List`, types);
  return { description, properties, required, inputProperties, requiredInputs, ...(listInputs ? { listInputs } : {}) };
}

function functionSpec(definition: PlatformFunction, types: TypeSpecs): object {
  const { name, inputs, outputs } = definition;
  const side = (object: z.ZodObject, io: "input" | "output") => objectSpec(object, io, pascal(name), types);
  const description = documentationOfFunction(definition);
  return { description, inputs: side(inputs, "input"), outputs: side(outputs, "output") };
}

const objectSpec = (object: z.ZodObject, io: "input" | "output", owner: string, types: TypeSpecs): object => ({
  type: "object",
  properties: propertiesOf(object, io, owner, types),
  required: requiredOf(object, io),
});

interface ObjectSchema {
  properties?: Record<string, Record<string, unknown>>;
  required?: string[];
}

// A JSON Schema of an object has both; what it can't say is anything.
const jsonSchemaOf = (object: z.ZodObject, io: "input" | "output") =>
  z.toJSONSchema(object, { io, unrepresentable: "any" }) as ObjectSchema;

const requiredOf = (object: z.ZodObject, io: "input" | "output"): string[] => jsonSchemaOf(object, io).required ?? [];

function propertiesOf(
  object: z.ZodObject,
  io: "input" | "output",
  owner: string,
  types: TypeSpecs,
): Record<string, PropertySpec> {
  return Object.fromEntries(
    Object.entries(jsonSchemaOf(object, io).properties ?? {}).map(([name, schema]) => {
      const { description, replaces, secret } = factsOf(object.shape[name]);
      const property: PropertySpec = types.of(schema, `${owner}${pascal(name)}`);
      if (description !== undefined) property.description = description;
      const { default: value } = schema;
      if (io === "input" && ["string", "number", "boolean"].includes(typeof value)) property.default = value;
      if (replaces) property.replaceOnChanges = true;
      if (secret) property.secret = true;
      return [name, property];
    }),
  );
}

const only = (
  properties: Record<string, PropertySpec>,
  keep: (property: PropertySpec, name: string) => boolean,
): Record<string, PropertySpec> =>
  Object.fromEntries(Object.entries(properties).filter(([name, property]) => keep(property, name)));

type JsonSchema = Readonly<Record<string, unknown>>;

/** `onDestroy` → `OnDestroy`. */
export const pascal = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

/** Types by JSON Schema. Enumerations and objects get names, and stand in `specs`. */
class TypeSpecs {
  readonly specs: Record<string, object> = {};

  /** @param name what it is called if it needs a name, e.g. `SeedRowsMode` */
  of(schema: JsonSchema, name: string): TypeSpec {
    if (Array.isArray(schema["anyOf"])) return this.#union(schema["anyOf"] as JsonSchema[], name); // in JSON Schema a list of schemas
    if (Array.isArray(schema["enum"])) return this.#enumeration(schema["enum"], name);
    const { type } = schema;
    if (Array.isArray(type))
      return this.#union(
        (type as unknown[]).map((one) => ({ ...schema, type: one })),
        name,
      );
    switch (type) {
      case "string":
      case "number":
      case "integer":
      case "boolean":
        return { type };
      case "array":
        return { type: "array", items: this.of(inner(schema["items"]), name) };
      case "object":
        return schema["properties"]
          ? this.#object(schema, name)
          : { type: "object", additionalProperties: this.of(inner(schema["additionalProperties"]), name) };
      default:
        return { $ref: "pulumi.json#/Any" };
    }
  }

  #union(options: readonly JsonSchema[], name: string): TypeSpec {
    // Nothing is what a property has that is not set.
    const specs = options.filter(({ type }) => type !== "null").map((option) => this.of(option, name));
    const different = specs.filter((spec, i) => specs.findIndex((one) => same(one, spec)) === i);
    if (different.length === 1 && different[0]) return different[0];
    // Pulumi's SDK for Python fails on a list where a program's value may also be something else.
    return different.some(({ items }) => items) ? { $ref: "pulumi.json#/Any" } : { oneOf: different };
  }

  #enumeration(values: readonly unknown[], name: string): TypeSpec {
    // Generators of SDKs make no name of punctuation.
    if (!values.every((value) => /[a-z]/i.test(String(value)))) return { type: "string" };
    return this.#named(name, { type: "string", enum: values.map((value) => ({ value })) });
  }

  #object(schema: JsonSchema, name: string): TypeSpec {
    const properties = Object.entries(inner(schema["properties"])).map(([property, value]) => {
      const { description } = inner(value);
      const spec = this.of(inner(value), `${name}${pascal(property)}`);
      return [property, description === undefined ? spec : { ...spec, description }] as const;
    });
    const { description } = schema;
    return this.#named(name, {
      type: "object",
      ...(description === undefined ? {} : { description }),
      properties: Object.fromEntries(properties),
      required: schema["required"],
    });
  }

  #named(name: string, spec: object): TypeSpec {
    const token = `microapps:index:${name}`;
    const known = this.specs[token];
    if (known && !same(known, spec)) throw new Error(`two types would be called ${token}`);
    this.specs[token] = spec;
    return { $ref: `#/types/${token}` };
  }
}

const same = (a: object, b: object): boolean => JSON.stringify(a) === JSON.stringify(b);

const inner = (schema: unknown): JsonSchema =>
  typeof schema === "object" && schema !== null ? (schema as JsonSchema) : {}; // `true` and nothing say anything

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
