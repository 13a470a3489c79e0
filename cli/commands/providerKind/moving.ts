import { parseTree, type Node } from "jsonc-parser";
import type { ProviderKind } from "../../../provider/pulumi/configuration/configuration.ts";
import { providerOf, toHiddenName, typeThrough, urnThrough } from "../../../provider/pulumi/providerKinds.ts";
import { resourceNamed } from "../../../provider/resources/resources.ts";
import { childrenOf, JsonEdits, keyOf, propertyOf, valueOf } from "./jsonEdits.ts";
import { providersThrough, type Move } from "./providers.ts";
import { propertiesOf, replaceText, readStored, textAt, type Stored } from "./stored.ts";

/** A state that can't change its kind of provider. */
export class Unmovable extends Error {}

/** A converted state, and the number of moved resources: 0 when all had that kind of provider already. */
export interface Moved {
  text: string;
  resources: number;
  /** True if it holds resources of ours at all. */
  hasOwn: boolean;
}

/**
 * Rewrites a state, or an export of one, for the given kind of provider. Everything else, encrypted secrets included,
 * stays byte for byte: the way back gives the same text.
 */
export function moveState(providerKind: ProviderKind, text: string): Moved {
  const root = parseTree(text);
  const deployment = valueOf(
    propertyOf(root, "deployment") ?? propertyOf(valueOf(propertyOf(root, "checkpoint")), "latest"),
  );
  if (deployment?.type !== "object") throw new Unmovable("this is neither a state nor an export of one");
  const pending = childrenOf(valueOf(propertyOf(deployment, "pending_operations")));
  if (pending.length > 0) {
    const urns = pending.map((operation) => textAt(valueOf(propertyOf(operation, "resource")), "urn"));
    throw new Unmovable(
      `an interrupted run left operations in it (${urns.map(nameOf).join(", ")}): run up first, which finishes them`,
    );
  }
  const all = childrenOf(valueOf(propertyOf(deployment, "resources"))).map(readStored);
  const own = all.filter(({ kind }) => kind !== undefined);
  refuseUnknown(own);
  const moving = own.filter(({ type, kind = "" }) => type !== typeThrough(providerKind, kind));
  if (moving.length === 0) return { text, resources: 0, hasOwn: own.length > 0 };
  const edits = new JsonEdits(text);
  const move: Move = { providerKind, text, edits, all, moving: new Set(moving) };
  const references = providersThrough(move);
  const urns = new Map(all.map(({ urn }) => [urn, references.urns.get(urn) ?? urnThrough(providerKind, urn)]));
  for (const one of all) {
    if (references.dropped.has(one)) continue;
    const provider = move.moving.has(one)
      ? references.ofResources.get(one.provider)
      : references.ofOthers.get(one.provider);
    if (provider !== undefined) replaceText(edits, one.node, "provider", provider);
    rewriteUrns(edits, one.node, urns);
    if (move.moving.has(one)) moveResource(move, one, urns.get(one.urn) ?? one.urn);
  }
  return { text: edits.applied(), resources: moving.length, hasOwn: true };
}

function refuseUnknown(own: readonly Stored[]): void {
  const unknown = own.find(({ kind = "" }) => !resourceNamed(kind));
  if (!unknown) return;
  throw new Unmovable(
    `"${nameOf(unknown.urn)}" is of the type ${unknown.type}, which this version of pulumi-microapps does not know`,
  );
}

/** Writes the type, and what only dynamic resources have in their properties. */
function moveResource({ providerKind, edits }: Move, one: Stored, urn: string): void {
  const { node, kind = "" } = one;
  replaceText(edits, node, "type", typeThrough(providerKind, kind));
  const urnName = toHiddenName("resourceUrn");
  for (const properties of propertiesOf(one)) {
    if (providerKind === "plugin") {
      edits.drop(properties, (property) => ["__provider", urnName].includes(keyOf(property)));
      continue;
    }
    const wanted = { __provider: providerOf(kind), [urnName]: urn };
    // A state of an earlier version has it under its own name.
    const there = new Set(childrenOf(properties).map((property) => keyOf(property).replace(/^resourceUrn$/, urnName)));
    edits.put(properties, Object.fromEntries(Object.entries(wanted).filter(([name]) => !there.has(name))));
  }
}

/** Rewrites each text of a resource that is the URN of one that moves: its own, and all references. */
function rewriteUrns(edits: JsonEdits, node: Node, urns: ReadonlyMap<string, string>): void {
  if (node.type === "string") {
    const urn = urns.get(String(node.value));
    if (urn !== undefined && urn !== node.value) edits.replace(node, urn);
  }
  for (const child of childrenOf(node)) {
    const value = node.type === "object" ? valueOf(child) : child;
    if (value) rewriteUrns(edits, value, urns);
  }
}

const nameOf = (urn: string): string => urn.split("::").slice(3).join("::");
