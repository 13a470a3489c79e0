/** A value that is never shown, and is encrypted in the state. */
export class Secret {
  readonly value: PropertyValue;
  constructor(value: PropertyValue) {
    this.value = value;
  }
}

/** A value that is known only after something was created; it exists in previews alone. */
export class Unknown {
  // Keeps the type nominal: without a member every object would be assignable to it.
  readonly kind = "unknown";
}
export const unknown = new Unknown();

/** A resource that is passed as a value. */
export class ResourceReference {
  readonly urn: string;
  readonly id: string | Unknown | undefined;
  readonly packageVersion: string | undefined;
  constructor(urn: string, id: string | Unknown | undefined, packageVersion?: string) {
    this.urn = urn;
    this.id = id;
    this.packageVersion = packageVersion;
  }
}

export type PropertyValue =
  | null
  | boolean
  | number
  | string
  | PropertyValue[]
  | PropertyMap
  | Secret
  | Unknown
  | ResourceReference;
export interface PropertyMap {
  [name: string]: PropertyValue;
}

/** Stands for a secret wherever values are shown. */
export const hidden = "[secret]";

export function isProperties(value: PropertyValue | undefined): value is PropertyMap {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Secret) &&
    !(value instanceof Unknown) &&
    !(value instanceof ResourceReference)
  );
}

/** Reads an own property; one may be called "constructor". */
export function property(properties: PropertyMap, name: string): PropertyValue | undefined {
  return Object.hasOwn(properties, name) ? properties[name] : undefined;
}

export function mapProperties(
  properties: PropertyMap,
  convert: (value: PropertyValue, name: string) => PropertyValue,
): PropertyMap {
  return Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, convert(value, name)]));
}

function contains(value: PropertyValue, wanted: (value: PropertyValue) => boolean): boolean {
  if (wanted(value)) return true;
  if (value instanceof Secret) return contains(value.value, wanted);
  if (Array.isArray(value)) return value.some((element) => contains(element, wanted));
  if (value instanceof ResourceReference) return value.id instanceof Unknown && wanted(value.id);
  return isProperties(value) && Object.values(value).some((element) => contains(element, wanted));
}

export const containsSecret = (value: PropertyValue): boolean => contains(value, (v) => v instanceof Secret);
export const containsUnknown = (value: PropertyValue): boolean => contains(value, (v) => v instanceof Unknown);

/** Copies properties at every depth; unknowns and references are shared, since nothing changes them. */
export const copyProperties = (properties: PropertyMap): PropertyMap => mapProperties(properties, copyValue);

function copyValue(value: PropertyValue): PropertyValue {
  if (value instanceof Secret) return new Secret(copyValue(value.value));
  if (Array.isArray(value)) return value.map(copyValue);
  return isProperties(value) ? copyProperties(value) : value;
}

/** Removes secret marks at every depth. */
export function revealSecrets(value: PropertyValue): PropertyValue {
  if (value instanceof Secret) return revealSecrets(value.value);
  if (Array.isArray(value)) return value.map(revealSecrets);
  return isProperties(value) ? mapProperties(value, revealSecrets) : value;
}

/** Compares as Pulumi does: a null property equals an absent one, a secret differs from its plain value. */
export function equal(a: PropertyValue | undefined, b: PropertyValue | undefined): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined) return false;
  if (a instanceof Secret) return b instanceof Secret && equal(a.value, b.value);
  if (a instanceof Unknown) return b instanceof Unknown;
  if (a instanceof ResourceReference) {
    return b instanceof ResourceReference && a.urn === b.urn && equal(a.id ?? null, b.id ?? null);
  }
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((element, i) => equal(element, b[i]));
  }
  if (!isProperties(a) || !isProperties(b)) return false;
  return Object.keys({ ...a, ...b }).every((name) => equal(property(a, name) ?? null, property(b, name) ?? null));
}

/** Marks the outputs whose inputs are secret, in place; for providers that do not support secrets. */
export function markSecrets(outputs: PropertyMap, inputs: PropertyMap): void {
  for (const [name, input] of Object.entries(inputs)) {
    const output = property(outputs, name);
    if (output === undefined) continue;
    if (isProperties(output) && isProperties(input)) markSecrets(output, input);
    else if (!(output instanceof Secret) && containsSecret(input)) outputs[name] = new Secret(output);
  }
}

/** Writes a value as plain JSON, with `[secret]` and `[unknown]` as placeholders. `showSecrets`: default false. */
export function toShown(value: PropertyValue, showSecrets = false): unknown {
  if (value instanceof Secret) return showSecrets ? toShown(value.value, true) : hidden;
  if (value instanceof Unknown) return "[unknown]";
  if (value instanceof ResourceReference) return value.id instanceof Unknown ? "[unknown]" : (value.id ?? value.urn);
  if (Array.isArray(value)) return value.map((element) => toShown(element, showSecrets));
  if (!isProperties(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, element]) => [name, toShown(element, showSecrets)]));
}
