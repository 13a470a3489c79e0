import { EngineError, Refusal } from "../errors.ts";
import { nameOf, typeOf, unknownId } from "./urns.ts";
import { type PropertyMap, ResourceReference, Secret, Unknown, unknown, type PropertyValue } from "./values.ts";

/** The property that marks an object as a secret, a reference or an output; its values follow. */
export const signature = "4dabf18193072939515e22adb298388d";
export const secretSignature = "1b47061264138c4ac30d75fd1eb44270";
export const referenceSignature = "5cf8f73096256a8f31e491e813e4eb8e";
const outputSignature = "d0e6a833031e9bbcd3f4e8bde6ca49a4";
const unsupported: Record<string, string> = {
  c44067f5952c0a294b673a41bacd8c17: "an asset (file or text handed over as a value)",
  "0def7320c3a5731c473e5ecbe6d01bc7": "an archive",
  "803fd3297a5875dc03ca845dda5d2a98": "a byte string",
};

/** The kinds of values that the receiver of a message accepts. Others are sent in their plain form. */
export interface Accepted {
  secrets: boolean;
  resources: boolean;
  unknowns: boolean;
}

/** Properties as they go over the wire. */
export function plainProperties(properties: PropertyMap, accepted: Accepted): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(properties)
      .map(([name, value]) => [name, plain(value, accepted)] as const)
      .filter(([, value]) => value !== undefined),
  );
}

function plain(value: PropertyValue, accepted: Accepted): unknown {
  if (value instanceof Secret) {
    const inner = plain(value.value, accepted);
    return accepted.secrets && inner !== undefined ? { [signature]: secretSignature, value: inner } : inner;
  }
  if (value instanceof Unknown) return accepted.unknowns ? unknownId : undefined;
  if (value instanceof ResourceReference) {
    const id = value.id instanceof Unknown ? (accepted.unknowns ? unknownId : undefined) : value.id;
    if (!accepted.resources) return value.id === undefined ? value.urn : id;
    return {
      [signature]: referenceSignature,
      urn: value.urn,
      name: nameOf(value.urn),
      type: typeOf(value.urn),
      ...(value.id === undefined ? {} : { id: value.id instanceof Unknown ? "" : value.id }),
      ...(value.packageVersion === undefined ? {} : { packageVersion: value.packageVersion }),
    };
  }
  if (Array.isArray(value)) {
    return value.map((element) => plain(element, accepted)).filter((element) => element !== undefined);
  }
  if (typeof value === "object" && value !== null) return plainProperties(value, accepted);
  return value;
}

/** Reads a value as it came over the wire. `where` names the property in errors. */
export function fromPlain(value: unknown, where: string): PropertyValue {
  if (value === null || value === undefined) return null;
  if (value === unknownId) return unknown;
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") return value;
  if (Array.isArray(value)) return value.map((element) => fromPlain(element, where));
  if (typeof value !== "object") throw new EngineError(`the property '${where}' has a value of type ${typeof value}`);
  const entries = Object.entries(value);
  const kind = entries.find(([name]) => name === signature)?.[1] as unknown;
  const get = (name: string): unknown => entries.find(([n]) => n === name)?.[1];
  switch (kind) {
    case undefined:
      return Object.fromEntries(entries.map(([name, element]) => [name, fromPlain(element, where)]));
    case secretSignature: {
      const inner = fromPlain(get("value"), where);
      return inner instanceof Secret ? inner : new Secret(inner);
    }
    case referenceSignature: {
      const id = get("id");
      const version = get("packageVersion");
      return new ResourceReference(
        String(get("urn")),
        typeof id !== "string" ? undefined : id === "" || id === unknownId ? unknown : id,
        typeof version === "string" && version !== "" ? version : undefined,
      );
    }
    case outputSignature: {
      const known = entries.some(([name]) => name === "value");
      const inner = known ? fromPlain(get("value"), where) : unknown;
      return get("secret") === true && !(inner instanceof Secret) ? new Secret(inner) : inner;
    }
    default:
      throw new Refusal(
        `the property '${where}' holds ${unsupported[String(kind)] ?? "a kind of value"} that the embedded engine does not ` +
          "carry: run this program with the Pulumi CLI",
      );
  }
}
