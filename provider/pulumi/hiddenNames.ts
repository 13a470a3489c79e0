import { once } from "../resources/model/once.ts";
import { factsOf } from "../resources/model/resource.ts";
import type { Resource } from "../resources/resource.ts";
import type { Properties } from "./properties.ts";
import { toHiddenName } from "./providerKinds.ts";

type Definition = Pick<Resource, "inputs" | "outputs">;

/** Names of values that mean nothing to a reader: digests, and values computed by check or by a provider kind. */
export const hiddenNames = once(({ inputs, outputs }: Definition): readonly string[] =>
  Object.entries({ ...inputs.shape, ...outputs.shape }).flatMap(([name, schema]) => {
    const { computed, opaque } = factsOf(schema);
    return computed || opaque ? [name] : [];
  }),
);

const toHidden = once(
  (definition: Definition) => new Map(hiddenNames(definition).map((name) => [name, toHiddenName(name)])),
);
const fromHidden = once(
  (definition: Definition) => new Map([...toHidden(definition)].map(([name, shown]) => [shown, name])),
);

/** Properties as the engine of a dynamic resource gets them. */
export const hideProperties = (definition: Definition, properties: Properties): Properties =>
  renamed(properties, toHidden(definition));

/** Properties as a resource knows them. States of earlier versions have all of them under their own names. */
export const unhidden = (definition: Definition, properties: Properties): Properties =>
  renamed(properties, fromHidden(definition));

const renamed = (properties: Properties, names: ReadonlyMap<string, string>): Properties =>
  Object.fromEntries(Object.entries(properties).map(([name, value]) => [names.get(name) ?? name, value]));
