import type { Node } from "jsonc-parser";
import type { ProviderKind } from "../../../provider/pulumi/configuration/configuration.ts";
import { explicitInput, providerType } from "../../../provider/pulumi/providerKinds.ts";
import { childrenOf, JsonEdits, keyOf } from "./jsonEdits.ts";
import { propertiesOf, replaceText, type Stored } from "./stored.ts";

/** Conversion of a whole state to a kind of provider. */
export interface Move {
  providerKind: ProviderKind;
  text: string;
  edits: JsonEdits;
  all: readonly Stored[];
  /** Those that move. */
  moving: ReadonlySet<Stored>;
}

/** New references to providers. */
interface References {
  /** New references of the resources that move, and of those that stay, by old reference. */
  ofResources: Map<string, string>;
  ofOthers: Map<string, string>;
  /** New URNs of the providers that were renamed, by old URN. */
  urns: Map<string, string>;
  dropped: Set<Stored>;
}

const isDefault = (urn: string): boolean => /^default($|_)/.test(urn.split("::").at(-1) ?? "");
const referenceTo = (urn: string, id: string): string => `${urn}::${id}`;

/**
 * Gives the resources that move providers of the other package. A provider that serves them alone becomes one of it. One
 * that serves others too stays, with one of the other package after it that has the same ID, by which the way back knows
 * it and drops it. Where the program has a provider of that name already, that one serves them.
 */
export function providersThrough(move: Move): References {
  const { providerKind, all, moving, edits, text } = move;
  const type = providerType(providerKind);
  const result: References = { ofResources: new Map(), ofOthers: new Map(), urns: new Map(), dropped: new Set() };
  const used = new Set([...moving].map(({ provider }) => provider));
  const others = new Set(all.flatMap((one) => (moving.has(one) ? [] : [one.provider])));
  for (const provider of all) {
    const reference = referenceTo(provider.urn, provider.id);
    if (!used.has(reference) || provider.type === type) continue;
    const urn = provider.urn.replace(`::${provider.type}::`, `::${type}::`);
    const there = all.find((one) => one.type === type && (one.urn === urn || (isDefault(urn) && isDefault(one.urn))));
    result.ofResources.set(reference, there ? referenceTo(there.urn, there.id) : referenceTo(urn, provider.id));
    if (there) {
      if (there.id === provider.id && !others.has(reference)) result.dropped.add(provider);
      // A provider stands before everything that refers to it.
      if (all.indexOf(there) > all.findIndex((one) => moving.has(one) && one.provider === reference)) {
        edits.insertAfter(provider.node, text.slice(there.node.offset, there.node.offset + there.node.length));
        result.dropped.add(there);
      }
    } else if (others.has(reference)) {
      const copy = new JsonEdits(text);
      replaceText(copy, provider.node, "urn", urn);
      rewrite(copy, providerKind, provider);
      edits.insertAfter(provider.node, copy.applied(provider.node));
    } else {
      rewrite(edits, providerKind, provider);
      result.urns.set(provider.urn, urn);
    }
  }
  const list = all[0]?.node.parent;
  if (list && result.dropped.size > 0) {
    const nodes = new Set([...result.dropped].map(({ node }) => node));
    edits.drop(list, (node) => nodes.has(node));
  }
  return result;
}

/** An engine's notes about a plugin among the inputs of its provider. */
const notes = ["version", "pluginDownloadURL", "__internal"];
/** Where such a note stands in a provider of dynamic resources, whose host reads it as configuration of another package. */
const kept = "plugin:";

function rewrite(edits: JsonEdits, providerKind: ProviderKind, provider: Stored): void {
  replaceText(edits, provider.node, "type", providerType(providerKind));
  for (const properties of propertiesOf(provider))
    rewriteSettings(edits, providerKind, properties, !isDefault(provider.urn));
}

/** Renames the settings of a provider for the other package. Unknown ones stay unchanged. */
function rewriteSettings(edits: JsonEdits, providerKind: ProviderKind, properties: Node, isExplicit: boolean): void {
  for (const property of childrenOf(properties)) {
    const key = keyOf(property);
    if (key === explicitInput) continue;
    const name = providerKind === "plugin" ? key.replace(/^(?:microapps|plugin):/, "") : asHostReads(key);
    if (name !== key) edits.rename(property, name);
  }
  if (providerKind === "plugin") edits.drop(properties, (property) => keyOf(property) === explicitInput);
  else if (isExplicit) edits.put(properties, { [explicitInput]: "true" });
}

const asHostReads = (key: string): string =>
  key.includes(":") ? key : (notes.includes(key) ? kept : "microapps:") + key;
