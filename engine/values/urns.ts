export const stackType = "pulumi:pulumi:Stack";
export const providerTypePrefix = "pulumi:providers:";
export const dynamicPackage = "pulumi-nodejs";
/** Pulumi's placeholder for an ID that is not known yet. */
export const unknownId = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

/** Splits `urn:pulumi:<stack>::<project>::<qualified type>::<name>`; a name may contain `::` itself. */
export function parseUrn(urn: string): { stack: string; project: string; qualifiedType: string; name: string } {
  const [stack = "", project = "", qualifiedType = "", ...name] = urn.slice("urn:pulumi:".length).split("::");
  return { stack, project, qualifiedType, name: name.join("::") };
}

const qualifiedTypeOf = (urn: string): string => parseUrn(urn).qualifiedType;
export const nameOf = (urn: string): string => parseUrn(urn).name;

export function typeOf(urn: string): string {
  const qualified = qualifiedTypeOf(urn);
  return qualified.slice(qualified.lastIndexOf("$") + 1);
}

export function makeUrn(stack: string, project: string, parent: string, type: string, name: string): string {
  const parentType = parent === "" ? "" : qualifiedTypeOf(parent);
  const prefix = parentType === "" || parentType === stackType ? "" : `${parentType}$`;
  return `urn:pulumi:${stack}::${project}::${prefix}${type}::${name}`;
}

export const isProviderType = (type: string): boolean => type.startsWith(providerTypePrefix);
export const isStackUrn = (urn: string): boolean => qualifiedTypeOf(urn) === stackType;
/** The package of a type token `package:module:Name`, or of the provider type itself. */
export const packageOf = (type: string): string =>
  isProviderType(type) ? type.slice(providerTypePrefix.length) : type.slice(0, type.indexOf(":"));

/** True if the engine made this provider itself; its steps are not shown or counted. */
export function isDefaultProvider(urn: string): boolean {
  return isProviderType(qualifiedTypeOf(urn)) && /^default($|_)/.test(nameOf(urn));
}

/** Splits a provider reference, `<urn>::<id>`; an ID contains no `::`. */
export function parseReference(reference: string): { urn: string; id: string } {
  const at = reference.lastIndexOf("::");
  return { urn: reference.slice(0, at), id: reference.slice(at + 2) };
}

export const makeReference = (urn: string, id: string): string => `${urn}::${id}`;
