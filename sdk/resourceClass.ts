import type * as pulumi from "@pulumi/pulumi";

/**
 * The class of a resource, with arguments and outputs as sdk/args.ts describes them. Options of
 * Pulumi that dynamic resources can't have are refused by name, as are parts of rows in `ignoreChanges`.
 */
export interface ResourceClass<Args, Outputs> {
  // Without a comment of its own: an editor shows that of the class.
  new (name: string, args: Args, options?: pulumi.CustomResourceOptions): pulumi.CustomResource & Outputs;
  /** @deprecated Always throws a RunError that names what to use instead: dynamic resources can't be looked up. */
  get: (name: string, id: pulumi.Input<pulumi.ID>, ...more: unknown[]) => never;
  /** True for a resource of this type with either kind of provider, also as policies have it (`__pulumiType`). */
  isInstance: (value: unknown) => value is pulumi.CustomResource & Outputs;
}

/** The outputs of a SeedRows by which links lead to its rows. */
export interface LinkedSeed extends pulumi.CustomResource {
  readonly table: pulumi.Output<string>;
  readonly key: pulumi.Output<string[]>;
  readonly renewals: pulumi.Output<number | undefined>;
}

/** Rows that links or sub-tables lead to: those of a SeedRows, or of a table with the label of its key. */
export type RowsOf = LinkedSeed | { table: pulumi.Input<string>; key: pulumi.Input<string> };

/** The parent rows of a sub-table, and the column of the source that holds the parent's key. */
export type ParentRows = (
  | {
      /** The seed of the parent rows. */
      rows: RowsOf;
    }
  | { table: pulumi.Input<string>; key: pulumi.Input<string> }
) & {
  /** The column of the source that holds the parent's key. */
  by: pulumi.Input<string>;
};

/** Cells of a row, each of which may be an output. */
export type CellsOf<Row> = { [Label in keyof Row]: pulumi.Input<Row[Label]> };

/** Labels of a row. */
export type LabelOf<Row> = Extract<keyof Row, string>;

/** A value without the outputs and promises that may stand in it. */
type Plain<Value> = unknown extends Value
  ? unknown
  : Value extends Promise<unknown> | pulumi.OutputInstance<unknown>
    ? never
    : Value extends readonly (infer Item)[]
      ? Plain<Item>[]
      : Value extends object
        ? { [Name in keyof Value]: Plain<Value[Name]> }
        : Value;

/** What a resource returns of its arguments. Those of `Filled` are never undefined: they have a default. */
export type OutputsOf<Args, Filled extends keyof Args = never> = {
  readonly [Name in keyof Args]-?: pulumi.Output<
    Plain<Name extends Filled ? Exclude<Args[Name], undefined> : Args[Name]>
  >;
};

/** A value whose parts may be outputs, at each depth. */
type OfOutputs<Value> = unknown extends Value
  ? unknown
  : Value extends readonly (infer Item)[]
    ? pulumi.Input<OfOutputs<Item>>[]
    : Value extends object
      ? InputsOf<Value>
      : Value;

/** The arguments of a function, as outputs. */
export type InputsOf<Args> = { [Name in keyof Args]: pulumi.Input<OfOutputs<Exclude<Args[Name], undefined>>> };
