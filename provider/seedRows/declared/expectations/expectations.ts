import { z } from "zod";
import { id } from "../../../../platform/contract/values.ts";

const label = z.string().min(1);
const accepted = z.union([z.string(), z.number(), z.boolean()]);

/** The rows of another table that `relationships` names, by the table and the label there. */
export const relatedRows = {
  table: id.meta({ description: "Data table ID of the rows that have the values." }),
  key: label.meta({ description: "Label there that has the values." }),
};

/** Requirements of a table, in the words of dbt's tests. A cell without a value breaks `notNull` alone. */
export const expectations = z.strictObject({
  unique: z.array(label).min(1).optional().meta({ description: "Labels under which no value stands twice." }),
  notNull: z.array(label).min(1).optional().meta({ description: "Labels that have a value in every row." }),
  acceptedValues: z
    .record(label, z.array(accepted).min(1))
    .optional()
    .meta({ description: "All values that a label takes, by label; of a list each item is one of them." }),
  relationships: z
    .record(label, z.strictObject(relatedRows).meta({ description: "The rows of another table that have the values." }))
    .optional()
    .meta({ description: "Labels whose values stand in rows of another table: label → {table, key}." }),
  rowCount: z
    .strictObject({
      min: z.int().min(0).optional().meta({ description: "Smallest number of rows." }),
      max: z.int().min(0).optional().meta({ description: "Largest number of rows." }),
    })
    .optional()
    .meta({ description: "Number of rows that the table has, those of others included." }),
});

export type Expectations = z.output<typeof expectations>;

/** A seed with expectations. */
export interface Expecting {
  expect?: Expectations | undefined;
}

/** Labels whose values are expected in rows of other tables, as links are listed. */
export const listRelationships = ({ expect }: Expecting) =>
  Object.entries(expect?.relationships ?? {}).map(([label, { table, key }]) => ({
    ...{ label, table, key },
    property: "expect",
  }));

/** Labels that expectations are about. */
export const listExpectedLabels = ({ expect }: Expecting): string[] => [
  ...new Set([
    ...(expect?.unique ?? []),
    ...(expect?.notNull ?? []),
    ...Object.keys(expect?.acceptedValues ?? {}),
    ...Object.keys(expect?.relationships ?? {}),
  ]),
];
