import type { Node } from "jsonc-parser";
import { isComponent, resourceOf } from "../../../provider/pulumi/providerKinds.ts";
import { type JsonEdits, propertyOf, valueOf } from "./jsonEdits.ts";

/** A resource, or the provider of some, as a state has it. */
export interface Stored {
  node: Node;
  urn: string;
  type: string;
  id: string;
  /** The reference to its provider: URN and ID. */
  provider: string;
  /** Its name among the resources; undefined of what is not ours. */
  kind: string | undefined;
}

export function readStored(node: Node): Stored {
  const type = textAt(node, "type");
  const isCustom = valueOf(propertyOf(node, "custom"))?.value === true;
  const name = resourceOf(type);
  return {
    node,
    type,
    urn: textAt(node, "urn"),
    id: textAt(node, "id"),
    provider: textAt(node, "provider"),
    kind: isCustom && name !== undefined && !isComponent(name) ? name : undefined,
  };
}

/** The text of a field; empty where there is none. */
export const textAt = (object: Node | undefined, name: string): string => {
  const value: unknown = valueOf(propertyOf(object, name))?.value;
  return typeof value === "string" ? value : "";
};

export const replaceText = (edits: JsonEdits, object: Node, name: string, text: string): void => {
  const value = valueOf(propertyOf(object, name));
  if (value) edits.replace(value, text);
};

/** The inputs and outputs that a resource has. */
export const propertiesOf = ({ node }: Stored): Node[] =>
  ["inputs", "outputs"].flatMap((name) => {
    const properties = valueOf(propertyOf(node, name));
    return properties?.type === "object" ? [properties] : [];
  });
