import type { z } from "zod";
import { type InputProblem, ResourceError } from "../resources/model/resource.ts";
import type { RowContext } from "../seedRows/table.ts";

/** A question about the platform that changes nothing. Its inputs and outputs are zod objects with descriptions. */
export interface PlatformFunction<Inputs extends z.ZodObject = z.ZodObject, Outputs extends z.ZodObject = z.ZodObject> {
  /** Name that programs call it by, e.g. `getTeam`. */
  name: string;
  summary: string;
  /** For the documentation: inputs, and the output that a program shows. `${crew.id}` is of the example called crew. */
  example: { inputs: z.input<Inputs>; output: keyof z.output<Outputs> & string };
  inputs: Inputs;
  outputs: Outputs;
  /** Problems between inputs that are each right. Offline. */
  check?: (inputs: z.output<Inputs>) => InputProblem[];
  /** Throws an InputError when an input names what is not there. */
  invoke: (context: RowContext, inputs: z.output<Inputs>) => Promise<z.output<Outputs>>;
}

/** Declares a function. */
export const platformFunction = <Inputs extends z.ZodObject, Outputs extends z.ZodObject>(
  declaration: PlatformFunction<Inputs, Outputs>,
): PlatformFunction<Inputs, Outputs> => declaration;

/** A failure that is due to one input. */
export class InputError extends ResourceError {
  readonly property: string;
  constructor(property: string, reason: string) {
    super(reason);
    this.property = property;
  }
}
