import { z } from "zod";
import type { PlatformFunction } from "../../functions/function.ts";
import { functions } from "../../functions/functions.ts";
import { factsOf } from "../../resources/model/resource.ts";
import type { Resource } from "../../resources/resource.ts";
import { resources } from "../../resources/resources.ts";
import { bindingOutput } from "../binding.ts";
import { configuration } from "../configuration/configuration.ts";
import { variableOf } from "../configuration/keys.ts";
import { documentationOf, documentationOfFunction, environmentExample } from "./documentation.ts";
import { listingOf } from "./listings.ts";
import { pascal, TypeSpecs, type PropertySpec } from "./types.ts";

/** The component that an Environment file is. */
export const environmentType = "microapps:index:Environment";

/** The package schema of Pulumi, of which SDKs and documentation are made: all of it follows from the definitions. */
export function packageSchema(version: string): object {
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

/** The schema in its served and committed form. */
export const schemaText = (version: string): string => `${JSON.stringify(packageSchema(version), undefined, 2)}\n`;

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
