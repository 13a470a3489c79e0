import { readFileSync } from "node:fs";
import { join } from "node:path";

/** A type of the package schema; `shape` stands for a resource or an answer, which have no name there. */
export interface Type {
  $ref?: string;
  type?: string;
  items?: Type;
  additionalProperties?: Type;
  oneOf?: Type[];
  shape?: Shape;
}

/** Named things that something has: inputs, outputs, properties. */
export interface Shape {
  owner: string;
  properties: Record<string, Type>;
  required: readonly string[];
}

interface Properties {
  properties?: Record<string, Type>;
  required?: string[];
}
interface PackageSchema {
  provider: { inputProperties?: Record<string, Type> };
  resources: Record<
    string,
    Properties & { description: string; inputProperties?: Record<string, Type>; requiredInputs?: string[] }
  >;
  functions: Record<string, { description: string; inputs?: Properties; outputs?: Properties }>;
  types: Record<string, Properties & { enum?: { value: string }[] }>;
}

/** The repository's root. */
export const repository = join(import.meta.dirname, "../../..");

const nameOf = (token: string): string => token.split(":").at(-1) ?? token;

/** Declarations of a package schema, by name without the token's beginning. */
export class Schema {
  readonly resources = new Map<string, { inputs: Shape; outputs: Shape }>();
  readonly functions = new Map<string, { inputs: Shape; outputs: Shape }>();
  readonly objects = new Map<string, Shape>();
  readonly enumerations = new Map<string, readonly string[]>();
  /** Documentation of resources and functions. */
  readonly descriptions = new Map<string, string>();

  constructor(text = readFileSync(join(repository, "plugin/schema.json"), "utf8")) {
    const { provider, resources, functions, types } = JSON.parse(text) as PackageSchema;
    const shape = (owner: string, { properties = {}, required = [] }: Properties = {}): Shape => ({
      owner,
      properties,
      required,
    });
    this.resources.set("Provider", {
      inputs: shape("Provider", { properties: provider.inputProperties ?? {} }),
      outputs: shape("Provider"),
    });
    for (const [token, resource] of Object.entries(resources)) {
      const name = nameOf(token);
      const inputs = { properties: resource.inputProperties ?? {}, required: resource.requiredInputs ?? [] };
      this.resources.set(name, { inputs: shape(name, inputs), outputs: shape(name, resource) });
      this.descriptions.set(name, resource.description);
    }
    for (const [token, { description, inputs, outputs }] of Object.entries(functions)) {
      const name = nameOf(token);
      this.functions.set(name, { inputs: shape(name, inputs), outputs: shape(name, outputs) });
      this.descriptions.set(name, description);
    }
    for (const [token, type] of Object.entries(types)) {
      const name = nameOf(token);
      if (type.enum)
        this.enumerations.set(
          name,
          type.enum.map(({ value }) => value),
        );
      else this.objects.set(name, shape(name, type));
    }
  }
}
