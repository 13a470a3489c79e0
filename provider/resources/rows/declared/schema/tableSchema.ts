import { z } from "zod";
import { maxMegabytesOfLayer, textOrReason } from "../../../../files/files.ts";
import { sentences } from "../../../../messages/sentences.ts";
import { SourceError } from "../../../../sources/read.ts";
import type { Expectations } from "../expectations/expectations.ts";

/** Types of Frictionless Table Schema that values are held against. */
export const schemaTypes = [
  ...(["string", "number", "integer", "boolean"] as const),
  ...(["date", "datetime", "array", "object", "any"] as const),
] as const;
export type SchemaType = (typeof schemaTypes)[number];

const label = z.string().min(1);
const labels = z.union([label.transform((one) => [one]), z.array(label)]);
const bound = z.union([z.number(), z.string()]);

// Strict: a constraint that nobody holds would look as if it were held.
const constraints = z.strictObject({
  required: z.boolean().optional(),
  unique: z.boolean().optional(),
  enum: z
    .array(z.union([z.string(), z.number(), z.boolean()]))
    .min(1)
    .optional(),
  minLength: z.int().min(0).optional(),
  maxLength: z.int().min(0).optional(),
  minimum: bound.optional(),
  maximum: bound.optional(),
});

const field = z.object({
  name: label,
  type: z.enum(schemaTypes).default("string"),
  format: z.literal(["default", "any"]).optional(),
  constraints: constraints.default({}),
});
export type SchemaField = z.output<typeof field>;

const tableSchema = z.object({
  fields: z.array(field).min(1),
  foreignKeys: z
    .array(z.object({ fields: labels, reference: z.object({ resource: z.string().default(""), fields: labels }) }))
    .default([]),
  missingValues: z.array(z.literal("")).optional(),
});

/** A table as a file of Frictionless Table Schema describes it. */
export interface TableSchema {
  /** Name of the file, for messages. */
  file: string;
  fields: ReadonlyMap<string, SchemaField>;
  /** Where links of one label lead; the table is empty for the table itself. */
  links: readonly { label: string; table: string; key: string }[];
}

/** Reads a Table Schema (JSON). Throws a SourceError that names the file and what is wrong in it. */
export function loadTableSchema(directory: string, file: string): TableSchema {
  const found = textOrReason(directory, file, maxMegabytesOfLayer);
  if ("reason" in found) throw new SourceError(`${file} can't be read: ${found.reason}`);
  const parsed = tableSchema.safeParse(parseJson(file, found.text), sentences);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const at = (issue?.path ?? [])
      .map((step) => (typeof step === "number" ? `[${step}]` : `.${String(step)}`))
      .join("");
    throw new SourceError(
      `${file}: ${at.replace(/^\./, "") || "the schema"} ${issue?.message ?? "does not fit"}. It has to be a Table Schema, as "microapps table schema" writes it, with no other constraints`,
    );
  }
  const { fields, foreignKeys } = parsed.data;
  const names = fields.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) < at);
  if (twice !== undefined) throw new SourceError(`${file}: the field "${twice}" stands twice: remove one of the two`);
  const links = foreignKeys.flatMap(
    ({
      fields: [one = "", ...more],
      reference: {
        resource,
        fields: [key = ""],
      },
    }) => (more.length > 0 ? [] : [{ label: one, table: resource, key }]),
  );
  return { file, fields: new Map(fields.map((one) => [one.name, one])), links };
}

function parseJson(file: string, text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw new SourceError(`${file}: is no JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Constraints of a schema as expectations: the same cells break both. */
export function toExpectations({ fields }: TableSchema): Expectations {
  const all = [...fields.values()];
  const named = (isSet: (one: SchemaField) => boolean | undefined): string[] =>
    all.filter((one) => isSet(one)).map(({ name }) => name);
  const accepted = all.flatMap(({ name, constraints }) =>
    constraints.enum ? [[name, constraints.enum] as const] : [],
  );
  return {
    unique: named(({ constraints }) => constraints.unique),
    notNull: named(({ constraints }) => constraints.required),
    acceptedValues: Object.fromEntries(accepted),
  };
}

/** Words of a schema for the rules of expectations. */
const words: Readonly<Record<string, string>> = { unique: "unique", notNull: "required", acceptedValues: "enum" };

/** A constraint of a schema for people, by the expectation that it is held as. */
export const nameConstraint =
  ({ file }: TableSchema) =>
  (rule: string): string =>
    `${words[rule] ?? rule} in ${file}`;
