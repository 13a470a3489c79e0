import type { Resource } from "../../resources/resource.ts";
import { resourceNamed } from "../../resources/resources.ts";

export const urnOf = (kind: string, name: string): string =>
  `urn:pulumi:plan::plan::microapps:index:${kind}::${name.replace(/^\//, "")}`;

export const resourceOf = (kind: string): Resource => {
  const found = resourceNamed(kind);
  if (!found) throw new Error(`there is no ${kind}`);
  return found;
};
