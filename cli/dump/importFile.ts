import { pickSettable, secretsOf, type Properties } from "../../provider/pulumi/properties.ts";
import { dynamicType, providerOf } from "../../provider/pulumi/providerKinds.ts";
import { secretSignature, signature } from "../../provider/pulumi/secrets.ts";
import { resourceNamed } from "../../provider/resources/resources.ts";
import type { Existing } from "./existing.ts";

/** Kind of provider that the import uses. */
export type ImportTarget = "dynamic" | "plugin";

/**
 * The file for `pulumi import --file`. For dynamic resources, whose import calls no provider, each entry has the whole
 * state, under the names and parents that an Environment of that name gives them. For the plugin, which reads what it
 * imports, IDs are enough, except for rows, which have none.
 */
export function importText(existing: readonly Existing[], providerKind: ImportTarget, environment: string): string {
  const resources = providerKind === "dynamic" ? dynamicEntries(existing, environment) : existing.map(pluginEntry);
  return `${JSON.stringify({ resources }, undefined, 2)}\n`;
}

function dynamicEntries(existing: readonly Existing[], environment: string): object[] {
  const nameOf = (path: readonly string[]): string => [environment, ...path].join("/");
  const entries = existing.map(({ type, path, id, inputs, outputs }) => {
    const own = (properties: Properties): Properties => ({
      ...inSecret(type, properties),
      __provider: providerOf(type),
    });
    // Only teams and members have a parent that is a resource itself.
    const parent = nameOf(path.slice(0, -1));
    return { type: dynamicType(type), name: nameOf(path), id, parent, inputs: own(inputs), outputs: own(outputs) };
  });
  return [{ type: "microapps:index:Environment", name: environment, component: true }, ...entries];
}

function pluginEntry({ type, path, id, inputs, outputs }: Existing): object {
  const name = path.join("-").replaceAll(/[^\w-]/g, "-");
  const entry = { type: `microapps:index:${type}`, name, id };
  const resource = type === "SeedRows" ? resourceNamed(type) : undefined;
  if (!resource) return entry;
  return { ...entry, inputs: inSecret(type, pickSettable(resource, inputs)), outputs: inSecret(type, outputs) };
}

/** Marks secret properties as Pulumi does, so that it encrypts them in the state: the salt of a seed. */
function inSecret(type: string, properties: Properties): Properties {
  const resource = resourceNamed(type);
  const secrets = new Set(resource ? secretsOf(resource, properties) : []);
  const mark = (value: unknown): object => ({ [signature]: secretSignature, plaintext: JSON.stringify(value) });
  return Object.fromEntries(
    Object.entries(properties).map(([name, value]) => [name, secrets.has(name) ? mark(value) : value]),
  );
}
