import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

/** A type as the package schema says it, or an object that has no name there: a resource, a function's answer. */
export interface Type {
  type?: string | undefined;
  $ref?: string | undefined;
  items?: Type | undefined;
  additionalProperties?: Type | undefined;
  oneOf?: Type[] | undefined;
  shape?: Shape | undefined;
}

/** Named things of one kind that something has: the inputs of a resource, the properties of a type. */
export interface Shape {
  /** Whose they are, e.g. `Team`. */
  owner: string;
  noun: "input" | "output" | "property";
  properties: Record<string, Type>;
  required: readonly string[];
}

/** A resource or function. */
export interface Callable {
  inputs: Shape;
  outputs: Shape;
}

const type: z.ZodType<Type> = z.object({
  type: z.string().optional(),
  $ref: z.string().optional(),
  get items() {
    return type.optional();
  },
  get additionalProperties() {
    return type.optional();
  },
  get oneOf() {
    return z.array(type).optional();
  },
});
const properties = z.record(z.string(), type).default({});
const required = z.array(z.string()).default([]);
const object = z.object({ properties, required });
const schemaFile = z.object({
  config: z.object({ variables: properties }),
  provider: z.object({ properties, inputProperties: properties }),
  resources: z.record(
    z.string(),
    z.object({
      description: z.string(),
      properties,
      required,
      inputProperties: properties,
      requiredInputs: required,
    }),
  ),
  functions: z
    .record(
      z.string(),
      z.object({
        description: z.string(),
        inputs: object.default({ properties: {}, required: [] }),
        outputs: object.default({ properties: {}, required: [] }),
      }),
    )
    .default({}),
  types: z.record(
    z.string(),
    z.object({
      properties: z.record(z.string(), type).optional(),
      required,
      enum: z.array(z.object({ value: z.string() })).optional(),
    }),
  ),
});

const nameOf = (token: string): string => token.split(":").at(-1) ?? token;

/** What plugin/schema.json declares, by name. */
export class Schema {
  readonly resources = new Map<string, Callable>();
  readonly functions = new Map<string, Callable>();
  readonly objects = new Map<string, Shape>();
  /** Values by name of the enumeration. */
  readonly enumerations = new Map<string, readonly string[]>();
  /** Texts of the documentation, by what they describe. */
  readonly descriptions = new Map<string, string>();

  constructor(text: string) {
    const { resources, functions, types, provider } = schemaFile.parse(JSON.parse(text));
    for (const [token, { description, properties, required, inputProperties, requiredInputs }] of [
      ["Provider", { ...provider, description: "", required: [], requiredInputs: [] }] as const,
      ...Object.entries(resources),
    ]) {
      const owner = nameOf(token);
      this.descriptions.set(owner, description);
      this.resources.set(owner, {
        inputs: { owner, noun: "input", properties: inputProperties, required: requiredInputs },
        outputs: { owner, noun: "output", properties, required },
      });
    }
    for (const [token, { description, inputs, outputs }] of Object.entries(functions)) {
      const owner = nameOf(token);
      this.descriptions.set(owner, description);
      this.functions.set(owner, {
        inputs: { owner, noun: "input", ...inputs },
        outputs: { owner, noun: "output", ...outputs },
      });
    }
    for (const [token, { properties, required, enum: values }] of Object.entries(types)) {
      const owner = nameOf(token);
      if (properties) this.objects.set(owner, { owner, noun: "property", properties, required });
      if (values)
        this.enumerations.set(
          owner,
          values.map(({ value }) => value),
        );
    }
  }

  /** What may be asked of a value of this type by name. */
  shapeOf({ shape, $ref = "" }: Type): Shape | undefined {
    return shape ?? this.objects.get(nameOf($ref));
  }

  /** The enumeration that a value of this type is of. */
  enumerationOf({ $ref = "" }: Type): string | undefined {
    return this.enumerations.has(nameOf($ref)) ? nameOf($ref) : undefined;
  }
}

const committed = join(import.meta.dirname, "../../../plugin/schema.json");

/** The schema that this repository ships. */
export const committedSchema = (): Schema => new Schema(readFileSync(committed, "utf8"));
