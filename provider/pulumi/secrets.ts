import { role } from "../contract/members.ts";
import { Mask } from "../messages/masks.ts";
import { randomID } from "../resources/model/resource.ts";
import type { Resource, ResourceContext } from "../resources/resource.ts";
import { secretKeys, type Configuration } from "./configuration/configuration.ts";
import { factsOf, unknownValue, type Properties } from "./properties.ts";

/** The property by which Pulumi says "this object is something else", and what a secret says there. */
export const signature = "4dabf18193072939515e22adb298388d";
export const secretSignature = "1b47061264138c4ac30d75fd1eb44270";

/** A configuration, or what is given for one. */
type Given = Readonly<Partial<Record<keyof Configuration, unknown>>>;

/**
 * Hides the secrets of a configuration and further ones, such as those among a resource's properties: nothing that a person
 * reads may hold one. What the configuration has in clear and the names of roles stay readable.
 */
export function maskOf(configuration: Given | undefined, texts: readonly string[] = []): Mask {
  const valuesOf = (keys: readonly (keyof Configuration)[]): string[] =>
    keys.flatMap((key) => {
      const value = configuration?.[key];
      return typeof value === "string" ? [value] : [];
    });
  return new Mask([...valuesOf(secretKeys), ...texts], [...valuesOf(["endpoint", "email", "userID"]), ...role.options]);
}

/** The secrets in the properties with these names. What the other properties have in clear, such as a label, is none. */
export function secretTexts(properties: Properties, names: Iterable<string>): string[] {
  const secret = new Set(names);
  const texts = textsIn(Object.entries(properties).flatMap(([name, value]) => (secret.has(name) ? [value] : [])));
  if (texts.length === 0) return [];
  return without(
    texts,
    textsIn(Object.entries(properties).flatMap(([name, value]) => (secret.has(name) ? [] : [value]))),
  );
}

/** The texts that are not among others. */
export function without(texts: readonly string[], others: readonly string[]): string[] {
  const clear = new Set(others);
  return texts.filter((text) => !clear.has(text));
}

/** Numbers of so many digits are hidden like texts; shorter ones may count anything. */
const digits = 6;

/** All texts in a value, with the names in it. */
export function textsIn(value: unknown): string[] {
  const texts: string[] = [];
  const look = (one: unknown): void => {
    if (typeof one === "string") {
      if (one !== unknownValue) texts.push(one);
    } else if (typeof one === "number") {
      if (String(one).length >= digits) texts.push(String(one));
    } else if (Array.isArray(one)) one.forEach(look);
    else if (typeof one === "object" && one !== null) {
      for (const [name, item] of Object.entries(one)) {
        texts.push(name);
        look(item);
      }
    }
  };
  look(value);
  return texts;
}

/** Inputs that say of others that they are secret, where they are. */
export const secrecy = ({ inputs }: Resource, secrets: ReadonlySet<string>): Properties =>
  Object.fromEntries(
    Object.entries(inputs.shape).flatMap(([name, schema]) =>
      [factsOf(schema).marksSecret ?? []].flat().some((other) => secrets.has(other)) ? [[name, true]] : [],
    ),
  );

/** What keeps secrets out of messages and IDs. */
export const hiding = (mask: () => Mask, secrets: readonly string[]): Pick<ResourceContext, "hide" | "publicID"> => ({
  hide: (value) => mask().add(textsIn(value)),
  publicID: (id) => (new Mask(secrets).hides(id) ? randomID() : id),
});
