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

type JsonSchema = Readonly<Record<string, unknown>>;

/** `onDestroy` → `OnDestroy`. */
export const pascal = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

/** Types by JSON Schema. Enumerations and objects get names, and stand in `specs`. */
export class TypeSpecs {
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
    return different.length === 1 && different[0] ? different[0] : { oneOf: different };
  }

  #enumeration(values: readonly unknown[], name: string): TypeSpec {
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
