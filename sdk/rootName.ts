import type * as pulumi from "@pulumi/pulumi";
import { topName, type LogicalName } from "../provider/environment/things/logicalNames.ts";

/** The name of the component that all others are below. */
export const rootName = (name: string, options: pulumi.ComponentResourceOptions | undefined): LogicalName =>
  topName(name, (options?.aliases ?? []).flatMap(nameIn));

/** The name in an alias, as far as it is known before the program has run. */
function nameIn(alias: pulumi.Input<pulumi.URN | pulumi.Alias>): string[] {
  if (typeof alias === "string") return [alias.slice(alias.lastIndexOf("::") + 2)];
  return "name" in alias && typeof alias.name === "string" ? [alias.name] : [];
}
