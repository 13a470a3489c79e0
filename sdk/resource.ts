import * as pulumi from "@pulumi/pulumi";
import { z } from "zod";
import { dynamicType, providerOf } from "../provider/pulumi/dynamicProvider.ts";
import { factsOf } from "../provider/pulumi/properties.ts";
import type { Resource, State } from "../provider/resources/resource.ts";
import { checkStackSettings } from "./stackSettings.ts";

/** What a resource is declared with, each value possibly an output of another resource. */
export type Args<Inputs extends z.ZodObject> = {
  [Name in keyof Omit<z.input<Inputs>, "resourceUrn">]: pulumi.Input<Deep<z.input<Inputs>[Name]>>;
};

/** Lists and maps may hold outputs of other resources, too. */
type Deep<Value> = Value extends readonly (infer Item)[]
  ? pulumi.Input<Deep<Item>>[]
  : Value extends Record<string, unknown>
    ? { [Name in keyof Value]: pulumi.Input<Deep<Value[Name]>> }
    : Value;

/** What a resource can be asked for: its inputs as they are applied, and what the platform added. */
export type Outputs<Inputs extends z.ZodObject, Added extends z.ZodObject> = {
  readonly [Name in keyof Required<Omit<State<Inputs, Added>, "resourceUrn">>]: pulumi.Output<
    State<Inputs, Added>[Name]
  >;
};

type ResourceClass<Inputs extends z.ZodObject, Added extends z.ZodObject> = new (
  name: string,
  args: Args<Inputs>,
  options?: pulumi.CustomResourceOptions,
) => pulumi.CustomResource & Outputs<Inputs, Added>;

/**
 * A resource's own URN, as a promise: as an output it would make the resource depend on its parent, and a dependency on
 * a component is one on everything inside of it, siblings that wait for this resource included.
 */
const plainUrn = (name: string, type: string, parent: pulumi.Resource | undefined): Promise<string> =>
  new Promise((resolve) => void pulumi.createUrn(name, type, parent).apply(resolve));

/** A switch such as `adopt`: the platform never tells it. Each output is dear to make, so those that are unset are one. */
const isSwitch = (schema: unknown): boolean =>
  schema instanceof z.ZodOptional && schema.unwrap() instanceof z.ZodBoolean;
const nothing = pulumi.output(undefined);

/** The class by which a program declares a resource, derived from the resource's definition. */
export function declared<Inputs extends z.ZodObject, Added extends z.ZodObject>(
  definition: Resource<Inputs, Added>,
): ResourceClass<Inputs, Added> {
  const type = dynamicType(definition.name);
  const names = [...Object.keys(definition.inputs.shape), ...Object.keys(definition.outputs.shape)];
  const switches = Object.keys(definition.inputs.shape).filter((name) => isSwitch(definition.inputs.shape[name]));
  // An output that is not mentioned here never resolves. A switch that nobody sets needs no mention: it says nothing.
  const mentioned = Object.fromEntries(names.flatMap((name) => (switches.includes(name) ? [] : [[name, undefined]])));
  // What check computes says nothing to a reader of a diff, except where it is all that a diff has.
  const computed = Object.entries(definition.inputs.shape)
    .filter(([, schema]) => factsOf(schema).computed && factsOf(schema).settles === "silently")
    .map(([name]) => name);
  const secrets = Object.entries({ ...definition.inputs.shape, ...definition.outputs.shape })
    .filter(([, schema]) => factsOf(schema).secret)
    .map(([name]) => name);

  class Declared extends pulumi.CustomResource {
    constructor(name: string, args: Args<Inputs>, options: pulumi.CustomResourceOptions = {}) {
      checkStackSettings();
      const props = {
        ...mentioned,
        ...args,
        __provider: providerOf(definition.name),
        resourceUrn: plainUrn(name, type, options.parent),
      };
      super(
        type,
        name,
        props,
        pulumi.mergeOptions(options, {
          hideDiffs: ["__provider", ...computed],
          additionalSecretOutputs: secrets,
        }),
      );
      const unset = switches.filter((name) => !(name in props));
      Object.assign(this, Object.fromEntries(unset.map((name) => [name, nothing])));
    }
  }
  // The SDK makes a property of each prop; the type says which ones these are.
  return Declared as unknown as ResourceClass<Inputs, Added>;
}
