/**
 * The constant that stands in the state as the provider of every dynamic resource of that type. The dynamic-provider host
 * evaluates it from the program's folder; a serialized closure would put kilobytes of code into the state of each resource.
 */
export const providerOf = (name: string): string =>
  `exports.handler=()=>require("pulumi-microapps/dynamic").handler("${name}")`;

/** The type token of a dynamic resource. */
export const dynamicType = (name: string): string => `pulumi-nodejs:dynamic/microapps:${name}`;
