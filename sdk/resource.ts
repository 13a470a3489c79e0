import * as pulumi from "@pulumi/pulumi";
import { z } from "zod";
import { isObject } from "../platform/contract/wire.ts";
import type { ProviderKind } from "../provider/pulumi/configuration.ts";
import { providerOf, resourceOf, toHiddenName, typeThrough } from "../provider/pulumi/names.ts";
import type { Definition, FromProgram } from "../provider/pulumi/properties.ts";
import {
  hiddenNames,
  hideProperties,
  programInput,
  secretsOf,
  withSecretCells,
} from "../provider/pulumi/properties.ts";
import { factsOf, once } from "../provider/resources/common.ts";
import { toPlainUrn, program, throughOther, type PlainUrn } from "./program.ts";
import type { ResourceClass } from "./resourceClass.ts";
import { isLater, programMarks, secretNames } from "./secrecy.ts";
import { checkStackSettings } from "./stackSettings.ts";
import { permitOptions, refuseGet } from "./unsupported.ts";

/** A switch such as `adopt`, which the platform does not return. Outputs are costly, so all unset switches share one. */
const isSwitch = (schema: unknown): boolean =>
  schema instanceof z.ZodOptional && schema.unwrap() instanceof z.ZodBoolean;
const nothing = pulumi.output(undefined);

/**
 * Frames of the stacks that @pulumi/pulumi takes while it registers a resource, four for each property: finding them in
 * source maps is most of what a resource costs a program. They are shown with promises that never end, on request; where
 * the program registers a resource is found without them.
 */
const maxFrames = process.env["PULUMI_DEBUG_PROMISE_LEAKS"] ? Infinity : 0;

/** Makes stacks short; returns what makes them as before. */
function withFewFrames(): () => void {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = Math.min(stackTraceLimit, maxFrames);
  return () => void (Error.stackTraceLimit = stackTraceLimit);
}

/** An error with the stack of this place: it was made where stacks have no frames. */
function withStack(error: unknown): unknown {
  if (error instanceof Error) Error.captureStackTrace(error);
  return error;
}

/** Properties of dynamic resources alone: engines pass these facts to plugins by themselves. */
const ownOfDynamic = (
  kind: string,
  resourceUrn: PlainUrn,
  args: object,
  ignoreChanges: readonly string[],
): { __provider: string; [programInput]: FromProgram } => ({
  __provider: providerOf(kind),
  [programInput]: {
    resourceUrn,
    isPreview: pulumi.runtime.isDryRun(),
    ...(ignoreChanges.length > 0 && { ignoreChanges }),
    ...(isLater(args) ? { secrets: secretNames(args).then((names) => (names.length > 0 ? names : undefined)) } : {}),
  },
});

/** Properties of a dynamic resource that engines hide from readers. */
const concealed = once((definition: Definition) => {
  const unseen = [...hiddenNames(definition)]; // a state of an earlier version has them under their own names
  const secrets = secretsOf(definition, {}).map((name) => (unseen.includes(name) ? toHiddenName(name) : name));
  return { hideDiffs: unseen, additionalSecretOutputs: secrets };
});

function optionsBehind(
  providerKind: ProviderKind,
  definition: Definition,
  options: pulumi.CustomResourceOptions,
  urn: PlainUrn,
): pulumi.CustomResourceOptions {
  // The plugin itself marks hidden and secret properties.
  const marks = providerKind === "dynamic" ? concealed(definition) : {};
  return pulumi.mergeOptions(options, { ...marks, ...throughOther(providerKind, urn) });
}

/** Derives the class that a program uses from the resource's definition; its types are those of sdk/args.ts. */
export function declareClass<Args extends object, Outputs extends object>(
  definition: Definition,
): ResourceClass<Args, Outputs> {
  const shape = { ...definition.inputs.shape, ...definition.outputs.shape };
  const names = Object.keys(shape).filter((name) => !factsOf(shape[name]).internal);
  const switches = Object.keys(definition.inputs.shape).filter((name) => isSwitch(definition.inputs.shape[name]));
  // An output that is not mentioned here never resolves. An unset switch needs no mention: it resolves to undefined.
  const mentioned = Object.fromEntries(names.flatMap((name) => (switches.includes(name) ? [] : [[name, undefined]])));
  const unseen = hiddenNames(definition);

  class Declared extends pulumi.CustomResource {
    constructor(name: string, declared: Args, options: pulumi.CustomResourceOptions = {}) {
      const args = { ...declared } as Record<string, unknown>; // interfaces have no index signature
      const { providerKind } = program();
      if (providerKind === "dynamic") checkStackSettings();
      permitOptions(providerKind, definition, name, args, options);
      const { sealed, open } = withSecretCells(definition, args, programMarks);
      const type = typeThrough(providerKind, definition.name);
      const urn = toPlainUrn(name, type, options.parent);
      const props = hideProperties(definition, {
        ...mentioned,
        ...sealed,
        ...(providerKind === "dynamic" ? ownOfDynamic(definition.name, urn, open, options.ignoreChanges ?? []) : {}),
      });
      const restore = withFewFrames();
      try {
        super(type, name, props, optionsBehind(providerKind, definition, options, urn));
      } catch (error) {
        restore();
        throw withStack(error);
      } finally {
        restore();
      }
      const unset = switches.filter((name) => !(name in props)).map((name) => [name, nothing] as const);
      const outputs = unseen.flatMap((name) =>
        toHiddenName(name) in props ? [[name, Reflect.get(this, toHiddenName(name)) as unknown] as const] : [],
      );
      Object.assign(this, Object.fromEntries([...unset, ...outputs]));
    }

    static get(name: string): never {
      return refuseGet(definition, name);
    }

    static override isInstance(value: unknown): value is Declared {
      if (value instanceof Declared) return true; // called without `this`
      const type: unknown = isObject(value) ? value["__pulumiType"] : undefined; // as policies and generated SDKs have it
      return typeof type === "string" && resourceOf(type) === definition.name;
    }
  }
  // The SDK makes a property of each prop; the type lists them.
  return Declared as unknown as ResourceClass<Args, Outputs>;
}
