import * as pulumi from "@pulumi/pulumi";
import type { Marks } from "../provider/pulumi/properties.ts";
import { once } from "../provider/resources/common.ts";

/** True for an output or promise, or a value that holds one: only these can be secrets. */
export const isLater = (value: unknown): boolean =>
  pulumi.Output.isInstance(value) ||
  value instanceof Promise ||
  (typeof value === "object" &&
    value !== null &&
    (pulumi.Resource.isInstance(value) || Object.values(value).some(isLater)));

/** The marks of a program: outputs, and what becomes one. */
export const programMarks: Marks = {
  secret: (value) => pulumi.secret(value),
  isMarked: (value) => pulumi.Output.isInstance(value) || value instanceof Promise || pulumi.Resource.isInstance(value),
};

const asked = (value: unknown): Promise<boolean> => pulumi.isSecret(pulumi.output(value));
/** Answers for immutable objects: many resources have the ID of one. */
const known = once((value: object) => asked(value));

/** True for a secret, or a value that holds one. */
export const isSecret = (value: unknown): Promise<boolean> =>
  pulumi.Output.isInstance(value) ? known(value) : isLater(value) ? asked(value) : Promise.resolve(false);

/** Names of the arguments that are, or hold, a secret. */
export async function secretNames(args: object): Promise<string[]> {
  const later = Object.entries(args).filter(([, value]) => isLater(value));
  const named = later.map(async ([name, value]) => ((await isSecret(value)) ? [name] : []));
  return (await Promise.all(named)).flat();
}
